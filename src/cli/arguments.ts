// Reads the arguments of commands. Errors say what was expected.

import { InvalidArgumentError } from "commander";
import { systemClock } from "../platform/base/clock.ts";

/** Reads a port; 0 picks a free one. Throws an `InvalidArgumentError`. */
export function readPort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) {
    return port;
  }
  throw new InvalidArgumentError("expected a port from 0 to 65535");
}

/** Reads an http or https URL. Throws an `InvalidArgumentError`. */
export function readUrl(text: string): string {
  const protocol = URL.parse(text)?.protocol;
  if (protocol === "http:" || protocol === "https:") {
    return text;
  }
  throw new InvalidArgumentError("expected a URL such as http://127.0.0.1:8090");
}

/** Reads the sequence of a result. Throws an `InvalidArgumentError`. */
export function readSequence(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) {
    return BigInt(text);
  }
  throw new InvalidArgumentError("expected a sequence: 0, 1, 2 …");
}

/** Reads a number from 1 to 99999. Throws an `InvalidArgumentError`. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) {
    return Number(text);
  }
  throw new InvalidArgumentError("expected a number from 1 to 99999");
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The last year that the contract's times can hold. */
const latestMs = Date.UTC(9999, 11, 31);

/** Reads a time in the future, such as `30d` or `2031-12-31`. Throws an `InvalidArgumentError`. */
export function readExpiry(text: string): Date {
  const time = readTime(text);
  if (time.getTime() > systemClock.nowMs()) {
    return time;
  }
  throw new InvalidArgumentError("expected a time from now to the year 9999");
}

/** Reads the same forms, but also times in the past. Throws an `InvalidArgumentError`. */
export function readTime(text: string): Date {
  const timeMs = readDuration(text, systemClock.nowMs()) ?? readDate(text);
  if (timeMs === undefined) {
    throw new InvalidArgumentError("expected a duration such as 12h, 30d or 4w, or a date such as 2031-12-31");
  }
  if (timeMs >= 0 && timeMs <= latestMs) {
    return new Date(timeMs);
  }
  throw new InvalidArgumentError("expected a time from 1970 to the year 9999");
}

function readDuration(text: string, nowMs: number): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,9})([mhdw])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : nowMs + Number(count) * ms;
}

/** Reads unambiguous dates only: a day, which starts in UTC, or a time with its zone. */
function readDate(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)) {
    return undefined;
  }
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
