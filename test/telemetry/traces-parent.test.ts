// The header `traceparent`: which values are valid, and what the service does with them.

import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import {
  parseTraceParent,
  printTraceParent,
  setTraceParent,
  traceParentOf,
} from "../../src/platform/base/trace-parent.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test.each([
  ["01", true],
  ["00", false],
  ["03", true],
  ["02", false],
  ["ff", true],
])("only the sampled flag of the flags %s counts", (flags, isSampled) => {
  expect(parseTraceParent(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId, isSampled });
});

test.each([
  ["nothing", undefined],
  ["an empty one", ""],
  ["the version ff", `ff-${traceId}-${spanId}-01`],
  ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${spanId}-01`],
  ["a span id of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
  ["a trace id that is too short", `00-${traceId.slice(1)}-${spanId}-01`],
  ["no flags", `00-${traceId}-${spanId}`],
  ["more than is known", `00-${traceId}-${spanId}-01-what`],
  ["a line after it", `00-${traceId}-${spanId}-01\n`],
  ["two of them", `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
])("a traceparent with this mistake is ignored: %s", (_what, text) => {
  expect(parseTraceParent(text)).toBeUndefined();
  const values = createContextValues();
  setTraceParent(values, text);
  expect(traceParentOf(values)).toBeUndefined();
});

test("a repeated header is ignored", () => {
  const values = createContextValues();
  setTraceParent(values, [`00-${traceId}-${spanId}-01`]);
  expect(traceParentOf(values)).toBeUndefined();
});

test("the traceparent that is passed on has only the parts that were understood", () => {
  const values = createContextValues();
  setTraceParent(values, `cc-${traceId}-${spanId}-03`);
  expect(traceParentOf(values)).toBe(`00-${traceId}-${spanId}-01`);
  expect(printTraceParent({ traceId, spanId, isSampled: false })).toBe(`00-${traceId}-${spanId}-00`);
});
