// The beginning of a result decodes as its whole fields, and the beginning of its output.

import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { closeMessage } from "../../src/engine/log/close-message.ts";
import { decodeResult } from "../../src/engine/log/result.ts";
import { completedText } from "../../src/engine/sessions/message-text.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const text = "Größe 🦊: ok. ".repeat(30);
const usage = { promptTokens: 300n, totalTokens: 70_000n };
const payloads: Readonly<Record<string, Payload>> = {
  "text of a message": {
    case: "runCompleted",
    value: {
      finishReason: "stop",
      message: { role: "assistant", content: { case: "text", value: text }, id: "one" },
      turns: 3,
      durationMs: 70_000n,
    },
  },
  "parts of a message": {
    case: "runCompleted",
    value: {
      message: {
        content: {
          case: "parts",
          value: {
            elements: [
              { type: "text", text },
              { type: "text", text },
            ],
          },
        },
      },
    },
  },
  "chunks without a message": { case: "runCompleted", value: { finishReason: "stop", output: text } },
  "a failure": { case: "runFailed", value: { code: "runner.error", error: "It broke: 🦊", output: text } },
};

test.each(Object.entries(payloads))("%s: every beginning decodes, with no half of a character", (_, payload) => {
  const bytes = toBinary(RunResultSchema, create(RunResultSchema, { runId: "run", sequence: 300n, usage, payload }));
  const whole = outputOf(bytes);
  let longest = 0;
  for (let length = 0; length <= bytes.length; length += 1) {
    const { bytes: closed } = closeMessage(RunResultSchema, bytes.subarray(0, length));
    const output = outputOf(closed);
    expect(whole.startsWith(output)).toBe(true);
    expect(output.length).toBeGreaterThanOrEqual(longest);
    longest = output.length;
    if (output !== "") {
      expect(decodeResult(closed).usage).toMatchObject(usage);
    }
  }
  expect(longest).toBe(whole.length);
  expect(closeMessage(RunResultSchema, bytes).bytes).toBe(bytes);
});

function outputOf(bytes: Uint8Array): string {
  const { payload } = decodeResult(bytes);
  return payload.case === "runCompleted"
    ? completedText(payload.value)
    : payload.case === "runFailed"
      ? payload.value.output
      : "";
}
