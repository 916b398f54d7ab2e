// The tool set_state: the arguments that it refuses, and the entry that a successful call adds to the log.

import { expect, test } from "vitest";
import { setState } from "../../src/agent/tools/set-state.ts";

const run = (args: Record<string, unknown>) => setState.run(args, undefined as never);

test("a key and any JSON value are taken", async () => {
  for (const value of ["x", 0, null, false, [], { a: [1] }]) {
    expect(await run({ key: "k", value })).toEqual({ content: "Set k" });
    expect(setState.changes?.({ key: "k", value })).toMatchObject([
      { payload: { case: "stateUpdated", value: { key: "k", value: JSON.stringify(value) } } },
    ]);
  }
});

test("a wrong key, and a value that is missing or too large, are refused", async () => {
  const problem = "invalid key: give a text of 1 to 256 characters";
  for (const key of [undefined, "", 7, "x".repeat(257), "a\0b", "\ud800"]) {
    expect(await run({ key, value: 1 })).toEqual({ error: problem });
  }
  expect(await run({ key: "k" })).toEqual({ error: "value is missing: give any JSON, or null" });
  const value = "x".repeat(65_535);
  expect(await run({ key: "k", value })).toEqual({ error: "value too large: 65537 bytes, max 65536" });
});
