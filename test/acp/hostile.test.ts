// What no coding agent says: each update adds whole results or nothing, and none makes the driver fail. Every value comes at every place.

import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { DriverStep } from "../../src/engine/runs/driver.ts";
import { Fold } from "../../src/protocols/acp/fold.ts";
import { permit } from "../../src/protocols/acp/permissions.ts";
import { oddValues } from "../harness/odd-values.ts";

const odd: readonly unknown[] = [
  ...oddValues,
  undefined,
  Number.NaN,
  "x".repeat(100_000),
  [null, 1, "x"],
  { type: "diff" },
  { type: "text", text: 1 },
];

const call = { sessionUpdate: "tool_call", toolCallId: "c1" };
const places: readonly ((value: unknown) => unknown)[] = [
  (value) => value,
  (value) => ({ sessionUpdate: value }),
  (value) => ({ sessionUpdate: "agent_message_chunk", content: value }),
  (value) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: value } }),
  (value) => ({ sessionUpdate: "agent_message_chunk", content: { type: "resource", resource: value } }),
  (value) => ({ sessionUpdate: "agent_thought_chunk", content: value }),
  (value) => ({ sessionUpdate: "plan", entries: value }),
  (value) => ({ sessionUpdate: "plan", entries: [value] }),
  (value) => ({ sessionUpdate: "plan", entries: [{ content: value, status: value, priority: value }] }),
  (value) => ({ ...call, toolCallId: value }),
  (value) => ({ ...call, title: value, kind: value, status: value }),
  (value) => ({ ...call, content: value }),
  (value) => ({ ...call, content: [value] }),
  (value) => ({ ...call, content: [{ type: "diff", path: value, oldText: value, newText: value }] }),
  (value) => ({ ...call, content: [{ type: "content", content: value }] }),
  (value) => ({ ...call, locations: value, rawInput: value }),
  (value) => ({ ...call, status: "completed", rawOutput: value }),
  (value) => ({ ...call, status: "failed", rawOutput: value, content: value }),
  (value) => ({ ...call, sessionUpdate: "tool_call_update", toolCallId: value, status: "completed" }),
];

function resultsOf(steps: readonly DriverStep[]) {
  return steps.flatMap((step) => ("results" in step ? step.results : "result" in step ? [step.result] : []));
}

test("updates", () => {
  let count = 0;
  let written = 0;
  for (const [index, place] of places.entries()) {
    for (const value of odd) {
      const fold = new Fold({
        calls: 0,
        hide: (text) => text,
        checkpoint: (turn) => ({ turn, state: new Uint8Array() }),
      });
      const steps = [
        ...fold.take(place(value)),
        ...fold.takeAsked(place(value)),
        ...fold.take(place(value)),
        ...fold.end(),
      ];
      for (const result of resultsOf(steps)) {
        written += 1;
        const { payload } = create(RunResultSchema, result as Parameters<typeof create<typeof RunResultSchema>>[1]);
        // Half of a character, and a field of another type, cannot be written.
        expect([index, toBinary(RunResultSchema, create(RunResultSchema, { payload })).length > 0]).toEqual([
          index,
          true,
        ]);
      }
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(300);
  expect(written).toBeGreaterThan(count);
});

test("questions", () => {
  for (const value of odd) {
    const options = Array.isArray(value) ? value.filter((each) => each !== null) : [];
    expect(permit({ options } as unknown as Parameters<typeof permit>[0])).toEqual({ outcome: "cancelled" });
  }
});
