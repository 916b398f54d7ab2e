// Timestamps and nonces: which are valid, to the exact limits, and the errors of the others.

import { expect, test } from "vitest";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { readStamp, type StampRules } from "../../src/protocols/jobspec/verification/metadata.ts";
import { SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { nowMs } from "./specs.ts";

const minuteMs = 60_000;
const good = { timestamp: new Date(nowMs).toISOString(), nonce: "n-1" };

function read(metadata: unknown, rules: Partial<StampRules> = {}) {
  const { object } = readDocument(Buffer.from(JSON.stringify({ metadata })));
  return readStamp(object, { nowMs, requiresMetadata: true, ...rules });
}

function outcomeOf(metadata: unknown, rules?: Partial<StampRules>): string {
  try {
    read(metadata, rules);
    return "ok";
  } catch (error) {
    if (error instanceof SpecFault) {
      return [error.code, ...Object.values(error.details)].join(" ");
    }
    throw error;
  }
}

const at = (offsetMs: number) => ({ ...good, timestamp: new Date(nowMs + offsetMs).toISOString() });

test.each([
  [-10 * minuteMs, "ok"],
  [-10 * minuteMs - 1, "timestamp_invalid too_old"],
  [5 * minuteMs, "ok"],
  [5 * minuteMs + 1, "timestamp_invalid too_far_in_future"],
  [0, "ok"],
  [-1e12, "timestamp_invalid too_old"],
  [1e12, "timestamp_invalid too_far_in_future"],
])("a timestamp %i ms from now is %s", (offsetMs, outcome) => {
  expect(outcomeOf(at(offsetMs))).toBe(outcome);
});

test.each([
  "2026-01-31T12:00:00Z",
  "2026-01-31T12:00:00.5Z",
  "2026-01-31T12:00:00.123456789Z",
  "2026-01-31T13:00:00+01:00",
  "2026-01-31T01:30:00-10:30",
])("%s is a valid time", (timestamp) => {
  expect(read({ ...good, timestamp }).timestampMs).toBe(Date.parse(timestamp));
});

test.each([
  ...["", "now", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31T12:00Z", "1769860800"],
  ...["2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z"],
  ...["2026-01-31T12:00:00+99:00", "2026-01-31T12:00:00z", " 2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z\n"],
  ...["Sat, 31 Jan 2026 12:00:00 GMT", "+002026-01-31T12:00:00Z"],
])("%j is not a valid time", (timestamp) => {
  expect(outcomeOf({ ...good, timestamp })).toBe("timestamp_invalid format_invalid");
});

test.each([
  [undefined, "missing_field:metadata"],
  [null, "missing_field:metadata"],
  ["text", "validation_error"],
  [[], "validation_error"],
  [5, "validation_error"],
  [{}, "missing_field:timestamp"],
  [{ nonce: "n" }, "missing_field:timestamp"],
  [{ ...good, timestamp: null }, "missing_field:timestamp"],
  ...[1, true, [], {}].map((timestamp) => [{ ...good, timestamp }, "invalid_field:timestamp"]),
  [{ ...good, nonce: undefined }, "missing_field:nonce"],
  [{ ...good, nonce: null }, "missing_field:nonce"],
  ...[1, false, [], {}, "", "x".repeat(129), "\0"].map((nonce) => [{ ...good, nonce }, "invalid_field:nonce"]),
  [{ ...good, nonce: "x" }, "ok"],
  [{ ...good, nonce: "\u{1f600}".repeat(128) }, "ok"],
] as [unknown, string][])("metadata %j: %s", (metadata, outcome) => {
  expect(outcomeOf(metadata)).toBe(outcome);
});

test("optional metadata is checked when it is present", () => {
  const rules = { requiresMetadata: false };
  for (const metadata of [undefined, {}, { other: 1 }]) {
    expect(read(metadata, rules)).toEqual({ timestampMs: undefined, nonce: undefined });
  }
  expect(read({ nonce: "n" }, rules)).toEqual({ timestampMs: undefined, nonce: "n" });
  expect(outcomeOf({ timestamp: "2020-01-01T00:00:00Z" }, rules)).toBe("timestamp_invalid too_old");
  expect(outcomeOf({ timestamp: 1 }, rules)).toBe("invalid_field:timestamp");
  expect(outcomeOf({ nonce: "" }, rules)).toBe("invalid_field:nonce");
  expect(outcomeOf("text", rules)).toBe("validation_error");
});
