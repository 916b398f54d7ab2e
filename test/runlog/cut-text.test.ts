// A result whose text is cut has every other field, also when only its beginning and its end were read.

import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { cutText, headBytes } from "../../src/engine/log/cut-text.ts";
import { decodeResult } from "../../src/engine/log/result.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const long = "Größe 🦊: ok. ".repeat(4_000);
const charsMax = 8;
const first = "Größe 🦊:";
const fields = { role: "assistant", id: "one", citations: [{ url: "https://bees.example", title: "x".repeat(300) }] };
const ends: Readonly<Record<string, (text: string) => Payload>> = {
  "a message": (value) => ({
    case: "messageCompleted",
    value: { message: { ...fields, content: { case: "text", value } } },
  }),
  "the message of a run": (value) => ({
    case: "runCompleted",
    value: {
      finishReason: "stop",
      message: { ...fields, content: { case: "text", value } },
      turns: 3,
      durationMs: 70n,
    },
  }),
  "the output of a run": (output) => ({ case: "runCompleted", value: { finishReason: "stop", output, turns: 2 } }),
  "the output of a failure": (output) => ({ case: "runFailed", value: { code: "runner.error", output, turns: 1 } }),
};

function encode(payload: Payload, bytesLeftOut = 0): Uint8Array {
  const result = { runId: "run", sequence: 300n, usage: { totalTokens: 70_000n }, bytesLeftOut, payload };
  return toBinary(RunResultSchema, create(RunResultSchema, result));
}

test.each(Object.entries(ends))("%s", (_, payloadOf) => {
  const bytes = encode(payloadOf(long));
  const expected = decodeResult(encode(payloadOf(first), Buffer.byteLength(long) - Buffer.byteLength(first)));
  for (const head of [bytes, bytes.subarray(0, headBytes(charsMax))]) {
    const cut = cutText(head, charsMax);
    expect(cut && decodeResult(cut.join(bytes.subarray(cut.restFrom)))).toEqual(expected);
  }
  // Until the text begins, the beginning does not tell.
  expect(cutText(bytes.subarray(0, 12), charsMax)).toBeUndefined();
  expect(cutText(encode(payloadOf(first)), charsMax)).toBeUndefined();
});

test.each<[string, Payload]>([
  ["a call", { case: "toolCallCompleted", value: { toolCallId: "c", result: long } }],
  ["a piece", { case: "messageDelta", value: { chunk: { content: long } } }],
  [
    "a message in parts",
    {
      case: "messageCompleted",
      value: { message: { content: { case: "parts", value: { elements: [{ type: "text", text: long }] } } } },
    },
  ],
])("%s stays whole", (_, payload) => {
  expect(cutText(encode(payload), charsMax)).toBeUndefined();
});
