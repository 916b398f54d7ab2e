// How the loop notices a model that repeats itself.

import { create } from "@bufbuild/protobuf";
import fc, { property, record } from "fast-check";
import { expect, test } from "vitest";
import { type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { type CallCounts, countCalls, interventionText } from "../../src/agent/loop/repetition.ts";
import { anyJson } from "../harness/json-value.ts";

function call(name: string, args: string): ToolCall {
  return create(ToolCallSchema, { id: "x", name, arguments: args });
}

/** Plays the turns in order and returns the interventions of each. */
function play(...turns: readonly (readonly ToolCall[])[]): string[][] {
  let counts: CallCounts = {};
  return turns.map((calls) => {
    const repetitions = countCalls(counts, calls);
    // As read back from a checkpoint.
    counts = JSON.parse(JSON.stringify(repetitions.counts)) as CallCounts;
    return Array.from(repetitions.interventions, ([position, text]) => `${position} ${text}`);
  });
}

test("the third identical call gets an intervention, and the count starts again after it", () => {
  const same = [call("glob", '{"a":1}')];
  const text = `0 ${interventionText("glob")}`;
  expect(play(same, same, same, same, same, same, same)).toEqual([[], [], [text], [], [], [text], []]);
});

test("each call of one turn counts", () => {
  const same = call("glob", "{}");
  expect(play([same, call("grep", "{}"), same, same])).toEqual([[`3 ${interventionText("glob")}`]]);
});

test.each([
  ["other arguments", call("glob", '{"a":2}')],
  ["another tool", call("grep", '{"a":1}')],
  ["arguments that are no JSON", call("glob", '{"a":1')],
  ["an array of the same", call("glob", '["a",1]')],
  ["text instead of a number", call("glob", '{"a":"1"}')],
  ["a number that JavaScript would round", call("glob", '{"a":1.00000000000000000001}')],
])("%s are another call", (_, other) => {
  const same = call("glob", '{"a":1}');
  expect(play([same], [same], [other])).toEqual([[], [], []]);
});

test("integers that JavaScript would round to the same are other calls", () => {
  const calls = ["9007199254740992", "9007199254740993", "9007199254740994"].map((id) => [call("get", `{"id":${id}}`)]);
  expect(play(...calls)).toEqual([[], [], []]);
  const [, large = []] = calls;
  expect(play(large, large, large).at(-1)).toHaveLength(1);
});

test.each([
  ["1", "1.0", "10e-1"],
  ["0", "-0", "0.00e5"],
  ["100", "1E+02", "100.000"],
  ["-12345678901234567890", "-1234567890123456789e1", "-12345678901234567890.0"],
  ["1e400", "10e399", "0.1e401"],
])("%s, %s and %s are one number", (...numbers) => {
  expect(play(...numbers.map((number) => [call("t", `[${number}]`)])).at(-1)).toHaveLength(1);
});

test("of duplicate keys the last one counts", () => {
  expect(play(...['{"a":1}', '{"a":2,"a":1}', '{"a":1}'].map((args) => [call("t", args)])).at(-1)).toHaveLength(1);
});

test("missing arguments equal empty ones, and invalid JSON equals itself", () => {
  expect(play([call("a", "")], [call("a", "{}")], [call("a", " { } ")]).at(-1)).toHaveLength(1);
  expect(play([call("a", "{")], [call("a", "{")], [call("a", "{")]).at(-1)).toHaveLength(1);
});

test("the order of keys does not matter, at any depth", () => {
  fc.assert(
    property(record({ a: anyJson({ maxDepth: 4 }), b: anyJson() }), (value) => {
      const reversed = JSON.stringify(reverseKeys(value));
      const turns = [
        [call("t", JSON.stringify(value))],
        [call("t", reversed)],
        [call("t", JSON.stringify(value, null, 2))],
      ];
      expect(play(...turns).at(-1)).toHaveLength(1);
    }),
  );
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(reverseKeys);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, each]) => [key, reverseKeys(each)]),
    );
  }
  return value;
}
