// Any input of a runner, however odd: it gets a verdict and never throws, its outcome can be stored and sent, and the run can
// still end.
//
// I4  A result can end only its own run, and none throws.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ReportedResult, ReportedResultSchema } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { parseJsonText } from "../../../src/platform/base/json/text.ts";
import type { IngestOutcome } from "../../../src/protocols/langbot/runners/results/ingest.ts";
import { reportedBytesMax } from "../../../src/protocols/langbot/runners/results/report.ts";
import { item, openIngest, piece, runId, told } from "./reported.ts";

const types = [
  "message.delta",
  "message.completed",
  "tool.call.started",
  "tool.call.completed",
  "artifact.created",
  "state.updated",
  "action.requested",
  "run.completed",
  "run.failed",
  "my.own",
];
const names = [
  ...["chunk", "message", "role", "content", "tool_calls", "function", "name", "arguments", "id", "type", "text"],
  ...["image_url", "url", "tool_call_id", "tool_name", "parameters", "result", "error", "artifact_type", "metadata"],
  ...["content_base64", "size_bytes", "scope", "key", "value", "action", "target", "payload", "finish_reason", "code"],
  ...["retryable", "is_final", "msg_sequence", "provider_specific_fields", "__proto__", "constructor", "prompt_tokens"],
];
const leaf = fc.oneof(
  fc.constantFrom("assistant", "actor", "conversation", "stop", "", "\0", "\ud800", "YQ==", null, true, 0, -1, 1.5),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.double({ noNaN: true }),
);
/** JSON of the protocol's names, mostly in the wrong places. */
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie("tree")), { maxLength: 5 })
      .map((members) => Object.fromEntries(members.filter(([name]) => name !== "__proto__"))),
  ),
}));
const valid: readonly (readonly [string, object])[] = [
  ["message.delta", { chunk: { role: "assistant", content: "a" } }],
  ["message.completed", { message: { role: "assistant", content: [{ type: "text", text: "a" }], tool_calls: null } }],
  ["tool.call.started", { tool_call_id: "c", tool_name: "n", parameters: {} }],
  ["artifact.created", { artifact_type: "f", content_base64: "YQ==" }],
  ["state.updated", { scope: "actor", key: "k", value: { n: 1.5 } }],
  ["run.failed", { error: "e", code: "c", retryable: true }],
  ["my.own", { a: [1] }],
];
const json = fc.oneof(tree, fc.constantFrom(...valid.map(([, data]) => data))).map((value) => JSON.stringify(value));
const mutated = fc
  .tuple(json, fc.nat(), fc.nat({ max: 4 }), fc.string({ unit: "binary", maxLength: 3 }))
  .map(([text, place, removed, added]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + removed);
  });
const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each).toString("latin1"));
const anyText = fc.oneof(json, mutated, bytes, fc.string({ unit: "binary" }), fc.constant("\ud800"));
const anyType = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...types) }, anyText);
const typed = fc.oneof(
  fc.tuple(anyType, anyText),
  fc.constantFrom(...valid).map(([type, data]) => [type, JSON.stringify(data)] as const),
);
const anyReported: fc.Arbitrary<ReportedResult> = fc
  .record({
    sequence: fc.oneof(fc.bigInt({ min: 1n, max: 12n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    typed,
    usage: fc.option(anyText, { nil: undefined }),
    runId: fc.constantFrom("", "", runId, "another"),
  })
  .map(({ typed: [type, data], ...init }) => create(ReportedResultSchema, { ...init, type, data }));

test("I4: every input gets a verdict, and its outcome can be stored and sent", () => {
  fc.assert(
    fc.property(fc.array(anyReported, { maxLength: 12 }), (items) => {
      const outcome = openIngest().take(items);
      expect(outcome.verdicts).toHaveLength(items.length);
      expectStorable(outcome);
    }),
    { numRuns: 1_000 },
  );
});

test("the property above reaches every disposition except that of the policy", () => {
  const seen = new Set<string>();
  for (const items of fc.sample(fc.array(anyReported, { maxLength: 12 }), { numRuns: 300, seed: 7 })) {
    for (const { disposition } of openIngest().take(items).verdicts) {
      seen.add(disposition);
    }
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(["applied", "telemetry", "ignored_unknown", "dropped_invalid", "ignored_after_terminal"]),
  );
});

describe("large and nested payloads get a verdict", () => {
  const room = reportedBytesMax - 200;
  test.each<[string, string, string]>([
    ["a long text", "message.delta", `{"chunk":{"role":"a","content":"${"x".repeat(room)}"}}`],
    ["a text of escapes", "message.delta", `{"chunk":{"role":"a","content":"${"\\u0041".repeat(room / 6)}"}}`],
    ["a text without its end", "message.delta", `{"chunk":{"role":"a","content":"${"\\\\".repeat(room / 2)}`],
    ["open brackets", "my.own", "[".repeat(room)],
    ["open objects", "my.own", '{"a":'.repeat(room / 5)],
    ["a list of millions", "my.own", `[${"0,".repeat(room / 2 - 1)}0]`],
    ["many members", "my.own", `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":0`).join(",")}}`],
    ["many unknown members", "run.failed", `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":0`).join(",")}}`],
    ["one member again and again", "run.failed", `{${'"k":0,'.repeat(100_000)}"k":0}`],
    ["a number of a million digits", "my.own", "9".repeat(1_000_000)],
    ["a count of a million digits", "message.delta", `{"chunk":{"role":"a","msg_sequence":${"9".repeat(1_000_000)}}}`],
    ["blanks", "my.own", " ".repeat(room)],
    ["blanks in a value", "my.own", `{"a":${" ".repeat(room)}1}`],
    ["padding without end", "artifact.created", `{"artifact_type":"f","content_base64":"${"=".repeat(1_000_000)}"}`],
    [
      "parts without end",
      "message.completed",
      `{"message":{"role":"a","content":[${'{"type":"t"},'.repeat(50_000)}{}]}}`,
    ],
    ["characters of four bytes", "state.updated", `{"scope":"actor","key":"${"😀".repeat(room / 4)}","value":1}`],
  ])("%s", (_, type, data) => {
    const outcome = openIngest({
      grant: { delivery: { streaming: true, reply: true, messageCharsMax: 2 * room } },
    }).take([item(1, type, data), item(1, type, data), piece(2, "after")]);
    expect(told(outcome).slice(1)).toEqual(["dropped_duplicate", "applied"]);
    expectStorable(outcome);
  });

  test("a type as long as a result gets a verdict", () => {
    const outcome = openIngest().take([item(1, "t".repeat(reportedBytesMax - 10)), piece(2, "after")]);
    expect(outcome.verdicts[0]).toMatchObject({ disposition: "dropped_invalid", type: "t".repeat(255) });
    expectStorable(outcome);
  });
});

test("joining pieces and comparing numbers does not take quadratic time", () => {
  const ingest = openIngest({ grant: { delivery: { streaming: true, reply: true, chunkContent: "increment" } } });
  const count = 10_000;
  // From the last to the first, so that every number but the last leaves a gap before it.
  for (let number = count; number >= 1; number--) {
    ingest.take([piece(number, "x")]);
  }
  expect(ingest.ackedThrough).toBe(count);
  const { end } = ingest.take([item(count + 1, "run.completed")]);
  expect(end?.kind === "completed" && end.output).toBe("x".repeat(count));
});

/** As Postgres and readers require: no NUL, no unpaired surrogates, and diagnostics of limited length. */
function expectStorable({ verdicts, results, effects }: IngestOutcome): void {
  for (const { type, diagnostics } of verdicts) {
    expectText(type, 255);
    for (const diagnostic of diagnostics) {
      expectText(diagnostic, 500);
    }
  }
  for (const result of results) {
    const message = create(RunResultSchema, result);
    expect(fromBinary(RunResultSchema, toBinary(RunResultSchema, message))).toEqual(message);
  }
  for (const effect of effects) {
    switch (effect.kind) {
      case "history":
        expectText(effect.role, 255);
        expectText(effect.text);
        parseJsonText(effect.message);
        expectText(effect.message);
        break;
      case "state":
        expectText(effect.key, 510);
        expectText(effect.value);
        break;
      case "artifact":
        expectText(effect.artifactId, 255);
        expectText(effect.type, 255);
        expectText(effect.metadata);
        expectText(`${effect.name}${effect.mimeType}${effect.sha256}`);
        break;
      case "approval":
        expectText(effect.approvalId, 255);
        expectText(effect.action);
        expectText(effect.request);
        break;
      default:
        effect satisfies never;
    }
  }
}

function expectText(text: string, unitsMax = Number.POSITIVE_INFINITY): void {
  expect([text.includes("\0"), text.isWellFormed(), text.length <= unitsMax]).toEqual([false, true, true]);
}
