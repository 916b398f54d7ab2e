// The error of a failed embedded database: what was wrong, what was tried, the last lines that Postgres printed, and the
// alternative. Every failure of this folder is created here, so each names the alternative.

import { Fault } from "../../base/fault.ts";

/** Details of a failure. */
export interface FailureDetails {
  /** The attempt: binaries, account, folders. */
  readonly tried?: string | undefined;
  /** The output of Postgres or initdb; only its last lines are shown. */
  readonly output?: string | undefined;
  readonly cause?: unknown;
}

/** Returns a fault DATABASE_UNAVAILABLE. */
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

/** Returns the message of an error, or the thrown value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const wayOut = "Set DATABASE_URL=postgres://user:pass@host/db to use your own Postgres.";

/** Postgres explains a failed start in two to five lines. Twelve leave room for hints and still fit a terminal. */
const outputLinesMax = 12;

/** The maximum length of a shown line: a message may quote a whole statement. */
const outputLineCharactersMax = 300;

function lastLines(output: string): string[] {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.slice(-outputLinesMax).map((line) => line.slice(0, outputLineCharactersMax));
}
