// The encoder of results writes the same bytes as the general encoder of the library.

import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageChunkSchema } from "#gen/runnel/v1/message_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { ResultEncoder } from "../../src/engine/log/encode.ts";
import { decodeResult, encodeResult, type ResultInit } from "../../src/engine/log/result.ts";
import { text, turn } from "./store.ts";

/** Includes lone surrogates: a provider may cut a text anywhere. */
const codeUnit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));
const anyText = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: codeUnit, maxLength: 200 }),
  fc.string({ unit: codeUnit, minLength: 4_000, maxLength: 6_000 }),
);
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

/** With and without each field, including the fields that only the general encoder knows. */
const chunk = fc.record(
  {
    role: fc.oneof(fc.constantFrom("", "assistant"), anyText),
    content: anyText,
    msgSequence: fc.oneof(fc.constant(-0), int32),
    isFinal: fc.boolean(),
    allContent: anyText,
    providerSpecificFields: fc.constant("{}"),
    source: fc.constant("{}"),
    toolCalls: fc.array(fc.record({ id: fc.string() }), { maxLength: 1 }),
    logprobs: fc.array(fc.record({ token: fc.string(), logprob: fc.double() }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const newerChunk = anyText.map((content) => {
  const message = create(MessageChunkSchema, { content });
  message.$unknown = [{ no: 99, wireType: 0, data: Uint8Array.of(7) }];
  return message;
});
const payload = fc.oneof<fc.Arbitrary<NonNullable<ResultInit["payload"]>>[]>(
  chunk.map((each) => ({ case: "messageDelta", value: { chunk: each } })),
  newerChunk.map((each) => ({ case: "messageDelta", value: { chunk: each } })),
  fc.constant({ case: "messageDelta", value: {} }),
  anyText.map((content) => ({ case: "reasoningDelta", value: { content } })),
  fc.constant({ case: "reasoningDelta", value: {} }),
  int32.map((number) => ({ case: "turnStarted", value: { turn: number } })),
  fc.constant({ case: "runCompleted", value: { finishReason: "stop" } }),
);
const result: fc.Arbitrary<ResultInit> = fc
  .tuple(payload, fc.boolean(), fc.boolean())
  .map(([each, hasUsage, isReported]): ResultInit => {
    const usage = hasUsage && { usage: { promptTokens: 3n } };
    return { payload: each, ...usage, ...(isReported && { runnerSequence: 7n }) };
  });

test("E1: a batch has the same bytes as its results encoded one by one", () => {
  const place = fc.record({
    runId: fc.uuid(),
    after: fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 2 ** 32 - 3, max: 2 ** 32 + 3 }), fc.maxSafeNat()),
    timeMs: fc.nat({ max: 253_402_300_799_999 }),
  });
  fc.assert(
    fc.property(place, fc.array(result, { maxLength: 20 }), ({ runId, after, timeMs }, results) => {
      fc.pre(Number.isSafeInteger(after + results.length));
      const entries = new ResultEncoder(runId).encode(results, { after, timeMs });
      const alone = results.map((init, index) => encodeResult(init, { runId, sequence: after + 1 + index, timeMs }));
      expect(entries.map(describe)).toEqual(alone.map(describe));
    }),
    { numRuns: 2_000 },
  );
});

function describe({ sequence, terminal, payloadCase, bytes }: ReturnType<typeof encodeResult>): object {
  return { sequence, terminal, payloadCase, bytes: Buffer.from(bytes).toString("hex") };
}

test("a result that cannot be encoded leaves no bytes in the next batch", () => {
  const encoder = new ResultEncoder("run");
  const place = { after: 0, timeMs: 0 };
  const broken: ResultInit = { payload: { case: "messageDelta", value: { chunk: { msgSequence: 1.5 } } } };
  expect(() => encoder.encode([turn(1), broken], place)).toThrow("1.5");
  const [entry] = encoder.encode([text("whole")], place);
  expect(toBinary(RunResultSchema, decodeResult(entry?.bytes ?? new Uint8Array()))).toEqual(
    encodeResult(text("whole"), { runId: "run", sequence: 1, timeMs: 0 }).bytes,
  );
});

test("a very large text is encoded like any other, and so is the next result", () => {
  const encoder = new ResultEncoder("run");
  const large = text("ü".repeat(600_000));
  for (const [after, init] of [large, text("small")].entries()) {
    const [entry] = encoder.encode([init], { after, timeMs: 0 });
    const alone = encodeResult(init, { runId: "run", sequence: after + 1, timeMs: 0 });
    expect(Buffer.compare(entry?.bytes ?? new Uint8Array(), alone.bytes)).toBe(0);
  }
});
