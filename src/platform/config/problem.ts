// Problems of the settings, all reported at once.

import { Fault } from "../base/fault.ts";
import { hideCredentials } from "../base/hide-credentials.ts";

/** One problem. */
export interface Problem {
  /** The source of the value: a variable, a key, a file. */
  readonly field: string;
  /** The full message: the problem, the value unless it is secret, and a valid value. */
  readonly text: string;
}

/** The maximum number of reported problems. The config file of another program may have a thousand unknown keys. */
const problemsShownMax = 20;
const shownCharsMax = 80;

/** Returns a fault CONFIG_INVALID, in the wording of the Agent Runner document where it has one. `hint` gets its own line. */
export function invalidConfig(problems: readonly Problem[], hint?: string): Fault {
  const shown = problems.slice(0, problemsShownMax).map((problem) => problem.text);
  const more = problems.length - shown.length;
  const texts = more === 0 ? shown : [...shown, `and ${more} more`];
  const violations = problems.map(({ field, text }) => ({ field, description: text }));
  const message = `Invalid config: ${texts.join("; ")}${hint === undefined ? "" : `\n${hint}`}`;
  return new Fault("CONFIG_INVALID", message, { violations });
}

/** Returns a value in quotes, on one line, without what looks like a credential, shortened to 80 characters. */
export function quote(text: string): string {
  const shown = hideCredentials(text);
  return JSON.stringify(shown.length > shownCharsMax ? `${shown.slice(0, shownCharsMax)}…` : shown);
}

/** Returns the message of an error, or the thrown value as text. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
