// How the console writes amounts.

import { expect, test } from "vitest";
import { formatCost, formatSum } from "../../console/src/lib/format.ts";

test.each([
  [0, "$0"],
  [12, "<$0.0001"],
  [100, "$0.0001"],
  [9_999, "$0.0100"],
  [1_250_000, "$1.25"],
])("a cost of %d millionths is %s, and never a zero that it is not", (microUsd, text) => {
  expect(formatCost(microUsd)).toBe(text);
});

test.each([
  [0, "$0.00"],
  [12_345, "$0.012345"],
  [132_009_752, "$132.01"],
])("a sum of %d millionths is %s", (microUsd, text) => {
  expect(formatSum(microUsd)).toBe(text);
});
