// Converts between google.protobuf.Timestamp and RFC 3339 text, with nanosecond precision.

import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Fault } from "../fault.ts";

/**
 * Parses `2026-01-31T12:00:00.123456789Z`, with `Z` or an offset. Returns undefined for an invalid text or a day that does not
 * exist.
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = timestampPattern.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, dateTime = "", fraction = "", sign, offsetHours = "0", offsetMinutes = "0"] = match;
  const localMs = Date.parse(`${dateTime}Z`);
  // Date.parse turns 30 February into March. A date exists only when it prints as it was written.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString().slice(0, dateTime.length) !== dateTime) {
    return undefined;
  }
  const offsetSeconds = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60 * (sign === "-" ? -1 : 1);
  const seconds = BigInt(localMs / 1000 - offsetSeconds);
  return isInRange(seconds)
    ? create(TimestampSchema, { seconds, nanos: Number(fraction.padEnd(nanosDigits, "0")) })
    : undefined;
}

/**
 * Prints in UTC with as many fraction digits as needed, or truncated to exactly `digits`.
 * Throws INTERNAL outside the years 1 to 9999.
 */
export function formatTimestamp(timestamp: Timestamp, digits?: number): string {
  const { seconds, nanos } = timestamp;
  if (!isInRange(seconds) || nanos < 0 || nanos > 999_999_999) {
    throw new Fault("INTERNAL", "a timestamp is outside the years 1 to 9999");
  }
  const dateTime = new Date(Number(seconds) * 1000).toISOString().slice(0, "2026-01-31T12:00:00".length);
  const allDigits = nanos.toString().padStart(nanosDigits, "0");
  const fraction = digits === undefined ? allDigits.replace(/(?<!0)0+$/, "") : allDigits.slice(0, digits);
  return fraction === "" ? `${dateTime}Z` : `${dateTime}.${fraction}Z`;
}

const nanosDigits = 9;
const secondsMin = BigInt(Date.parse("0001-01-01T00:00:00Z") / 1000);
const secondsMax = BigInt(Date.parse("9999-12-31T23:59:59Z") / 1000);
const timestampPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

function isInRange(seconds: bigint): boolean {
  return seconds >= secondsMin && seconds <= secondsMax;
}
