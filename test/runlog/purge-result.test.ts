// Purged results: the content is gone, for every type, and everything else is unchanged.

import { createHash } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { purgeResult } from "../../src/engine/log/purge-result.ts";
import { decodeResult } from "../../src/engine/log/result.ts";
import { arbitraryMessage } from "../gateways/arbitrary-message.ts";

const place = { runId: "a-run", sequence: 7n, createTime: timestampFromMs(1_000) };

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

function bytesOf(payload: Payload, usage?: MessageInitShape<typeof RunResultSchema>["usage"]): Uint8Array {
  return toBinary(RunResultSchema, create(RunResultSchema, { ...place, payload, ...(usage && { usage }) }));
}

function purged(bytes: Uint8Array): RunResult {
  return decodeResult(purgeResult(bytes) ?? expect.unreachable("it was not purged before"));
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("texts, arguments and files are gone; type, figures, names of tools and codes are unchanged", () => {
  const usage = { promptTokens: 5n, costMicroUsd: 9n, priceTable: "2026-11" };
  const started = bytesOf(
    { case: "toolCallStarted", value: { toolCallId: "call", toolName: "read_file", parameters: '{"path":"x"}' } },
    usage,
  );
  expect(purged(started)).toEqual(
    create(RunResultSchema, {
      ...place,
      usage,
      purgedSha256: sha256(started),
      payload: { case: "toolCallStarted", value: { toolName: "read_file", parameters: "{}" } },
    }),
  );
  const failed = bytesOf({
    case: "runFailed",
    value: { code: "runner.error", error: "said", retryable: true, output: "said", turns: 3, durationMs: 12n },
  });
  expect(purged(failed).payload.value).toMatchObject({
    code: "runner.error",
    error: "",
    retryable: true,
    output: "",
    turns: 3,
    durationMs: 12n,
  });
  const completed = bytesOf({
    case: "runCompleted",
    value: {
      finishReason: "said",
      turns: 2,
      message: {
        role: "assistant",
        content: { case: "parts", value: { elements: [{ type: "text", text: "said" }, { type: "image_url" }] } },
        toolCalls: [{ id: "said", name: "list_dir", arguments: "said" }],
      },
    },
  });
  const { message, ...figures } = purged(completed).payload.value as MessageInitShape<typeof RunResultSchema> & {
    message: { content: { value: { elements: unknown[] } }; toolCalls: { name: string }[] };
  };
  expect(figures).toMatchObject({ finishReason: "", turns: 2 });
  expect(message.content.value.elements).toHaveLength(2);
  expect(message.toolCalls.map(({ name }) => name)).toEqual(["list_dir"]);
});

test("whether a tool call failed is still visible, and its result is still JSON", () => {
  const failed = bytesOf({ case: "toolCallCompleted", value: { toolName: "bash", error: "said" } });
  expect(purged(failed).payload.value).toMatchObject({ toolName: "bash", error: "" });
  const succeeded = purged(bytesOf({ case: "toolCallCompleted", value: { toolName: "bash", result: '"said"' } }));
  expect(succeeded.payload.value).toMatchObject({ toolName: "bash", result: "{}" });
  expect(succeeded.payload.value).not.toHaveProperty("error");
});

test("results without content are marked like all others", () => {
  const bytes = bytesOf({ case: "turnStarted", value: { turn: 4 } });
  expect(purged(bytes).purgedSha256).toBe(sha256(bytes));
  expect(purged(bytes).payload).toMatchObject({ case: "turnStarted", value: { turn: 4 } });
});

test("a purged result is not purged again, so the hash stays that of the original bytes", () => {
  const once = purgeResult(bytesOf({ case: "reasoningDelta", value: { content: "said" } }));
  expect(purgeResult(once ?? new Uint8Array())).toBeUndefined();
});

test("a result of a type that only a newer version knows keeps no byte of its content", () => {
  const known = toBinary(RunResultSchema, create(RunResultSchema, place));
  const newer = Buffer.concat([known, Buffer.from([0xa2, 0x06, 4]), Buffer.from("said")]);
  const bytes = purgeResult(newer) ?? new Uint8Array();
  expect(decodeResult(newer).$unknown).toHaveLength(1);
  expect(Buffer.from(bytes).includes("said")).toBe(false);
  expect(decodeResult(bytes)).toMatchObject({ runId: "a-run", purgedSha256: sha256(newer) });
});

// Every field of every type, including those that are added to the contract later.
test("no text of any type survives a purge except the listed fields", () => {
  fc.assert(
    fc.property(arbitraryMessage(RunResultSchema), (message) => {
      const result = { ...message, purgedSha256: "" } as RunResult;
      const { payload, usage, ...rest } = purged(toBinary(RunResultSchema, result));
      expect(payload.case).toBe(result.payload.case);
      expect(usage).toEqual(result.usage);
      expect(rest).toMatchObject({ runId: result.runId, sequence: result.sequence });
      expect(textsIn(payload.value).filter((text) => text !== "" && text !== "{}")).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

const meantToStay = [
  "runnel.v1.ToolCall.name",
  "runnel.v1.ToolCallStarted.toolName",
  "runnel.v1.ToolCallCompleted.toolName",
  "runnel.v1.ApprovalRequested.toolName",
  "runnel.v1.RunFailed.code",
  "runnel.v1.Extension.type",
];

/** Every string and all bytes in a message, except those that name the tool, code or type. */
function textsIn(value: unknown, place = ""): unknown[] {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return meantToStay.includes(place) || value.length === 0 ? [] : [value];
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const typeName = "$typeName" in value ? `${value.$typeName}.` : "";
  return Object.entries(value).flatMap(([name, item]) =>
    name === "case" || name === "$typeName" ? [] : textsIn(item, typeName + name),
  );
}
