// Cursors of Durable Streams (PROTOCOL.md, §8.1): a cache never sees the same one twice from one reader.

import { expect, test } from "vitest";
import { cursorOf } from "../../src/surfaces/durable-streams/position.ts";

const nowMs = Date.UTC(2024, 9, 9, 0, 1);

test.each([
  [undefined, 0, "3"],
  [2, 0, "3"],
  [3, 0, "4"],
  [3, 0.999, "183"],
  [50, 0, "51"],
] as const)("after the cursor %s comes a later one", (previous, random, cursor) => {
  expect(cursorOf(nowMs, previous, () => random)).toBe(cursor);
});
