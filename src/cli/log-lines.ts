// Log lines on standard error: JSON for programs; for `dev` the event's sentence with its fields.

import { coreEvents, type EventTable } from "../platform/telemetry/events.ts";
import { type LineStream, standardError } from "../platform/telemetry/standard-error.ts";
import { forPeople, forPrograms } from "./terminal.ts";

/** The names of levels by pino's numbers. */
const levels: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warning", 50: "error" };

/**
 * Rewrites each JSON line: `{"level":40,"time":"…T18:33:45.191Z","problem":"no bwrap","msg":"jail.missing"}` becomes
 * `18:33:45 warning  Commands cannot be confined. problem: no bwrap (jail.missing)`. The time is in this machine's zone.
 */
export function linesForPeople(protocolEvents: EventTable): LineStream {
  const rows = Object.values<EventTable[string]>({ ...coreEvents, ...protocolEvents });
  const abouts = new Map(rows.map(({ name, about }) => [name, about]));
  return rewriteLines((line) => forPeople(`${showLine(line, abouts)}\n`, process.stderr));
}

/** Leaves the lines as JSON. */
export function linesForPrograms(): LineStream {
  return rewriteLines((line) => forPrograms(line, process.stderr));
}

function rewriteLines(rewrite: (line: string) => string): LineStream {
  const destination = standardError();
  return { ...destination, write: (line) => destination.write(rewrite(line)) };
}

function showLine(line: string, abouts: ReadonlyMap<string, string>): string {
  const { level, time, msg, stack, ...fields } = JSON.parse(line);
  const at = new Date(time).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(([name, value]) => `${name}: ${showValue(value)}`);
  const about = abouts.get(msg);
  return [`${at} ${levels[level] ?? level} `, about, shown.join(", "), about === undefined ? msg : `(${msg})`, stack]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
}

function showValue(value: unknown): string {
  return Array.isArray(value)
    ? value.map(showValue).join(", ")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
}
