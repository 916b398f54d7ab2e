// The one message that a failed embedded database gives: what was wrong, what was tried, what Postgres itself said last,
// and the way out. Every failure of this folder is made here, so none of them forgets the way out.

import { Fault } from "../../base/fault.ts";

export interface FailureDetails {
  /** What was attempted: binaries, account, folders. */
  readonly tried?: string | undefined;
  /** What Postgres or initdb printed; only its last lines are shown. */
  readonly output?: string | undefined;
  readonly cause?: unknown;
}

export function embeddedFailure(what: string, details: FailureDetails = {}): Fault {
  const lines = [what];
  if (details.tried !== undefined) {
    lines.push(`Tried: ${details.tried}.`);
  }
  const output = lastLines(details.output ?? "");
  if (output.length > 0) {
    lines.push("The last lines of its log:", ...output.map((line) => `  ${line}`));
  }
  lines.push(wayOut);
  return new Fault("DATABASE_UNAVAILABLE", lines.join("\n"), { cause: details.cause });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const wayOut = "Set DATABASE_URL=postgres://user:pass@host/db to use your own Postgres.";

/** Postgres explains a failed start in two to five lines; twelve leave room for hints and still fit a terminal. */
const outputLinesMax = 12;

/** A line is cut here: a message may quote a whole statement. */
const outputLineCharactersMax = 300;

function lastLines(output: string): string[] {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.slice(-outputLinesMax).map((line) => line.slice(0, outputLineCharactersMax));
}
