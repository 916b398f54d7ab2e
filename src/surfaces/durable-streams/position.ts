// Positions in a stream (PROTOCOL.md of Durable Streams, §6): offsets, cursors and what a request asks for.

import { Fault } from "../../platform/base/fault.ts";

/** A request for a part of a stream. */
export interface Wanted {
  /** The sequence of the last result that the reader has; `now` for a reader that wants only what comes. */
  readonly after: number | "now";
  readonly live: "long-poll" | "sse" | undefined;
  /** The cursor of the answer before; undefined for none. */
  readonly cursor: number | undefined;
}

/** Offsets sort as texts do, so a sequence has as many digits as the largest safe integer. */
const offsetDigits = 16;
const offsetPattern = /^\d{16}$/;

/** Returns the offset after a result. */
export function offsetOf(sequence: number): string {
  return String(sequence).padStart(offsetDigits, "0");
}

/** Reads the query. Throws Fault INVALID_ARGUMENT that names the parameter. */
export function readWanted(query: URLSearchParams): Wanted {
  const live = one(query, "live");
  if (live !== undefined && live !== "long-poll" && live !== "sse") {
    throw invalid("live", "must be long-poll or sse");
  }
  const offset = one(query, "offset");
  if (offset === undefined && live !== undefined) {
    throw invalid("offset", `is required with live=${live}: start with -1`);
  }
  const cursor = one(query, "cursor");
  return { after: readOffset(offset), live, cursor: /^\d{1,15}$/.test(cursor ?? "") ? Number(cursor) : undefined };
}

function readOffset(offset: string | undefined): Wanted["after"] {
  if (offset === undefined || offset === "-1") {
    return 0;
  }
  if (offset === "now") {
    return offset;
  }
  const sequence = offsetPattern.test(offset) ? Number(offset) : Number.NaN;
  if (!Number.isSafeInteger(sequence)) {
    throw invalid("offset", "must be -1, now, or the stream-next-offset of an answer");
  }
  return sequence;
}

function one(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  if (others.length > 0) {
    throw invalid(name, "is given twice");
  }
  return value;
}

/** Returns the error of a parameter. */
export function invalid(field: string, description: string): Fault {
  return new Fault("INVALID_ARGUMENT", `invalid ${field}: ${description}`, { violations: [{ field, description }] });
}

const cursorEpochMs = Date.UTC(2024, 9, 9);
const cursorIntervalMs = 20_000;
/** A reader that is ahead of the clock gets a cursor up to an hour later (§8.1). */
const cursorJitterMax = 180;

/** Returns the cursor of an answer: the number of the 20-second interval, and never the one that the reader has. */
export function cursorOf(nowMs: number, previous: number | undefined, random: () => number): string {
  const current = Math.floor((nowMs - cursorEpochMs) / cursorIntervalMs);
  const isBehind = previous !== undefined && previous >= current;
  return String(isBehind ? previous + 1 + Math.floor(random() * cursorJitterMax) : current);
}
