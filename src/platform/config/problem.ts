// What is wrong with the settings, told all at once.

import { Fault } from "../base/fault.ts";

export interface Problem {
  /** What was set: a variable, a key, a file. */
  readonly field: string;
  /** The whole of it in words, for people: what is wrong, the value unless it is secret, and what would be right. */
  readonly text: string;
}

/** A file of another program may have a thousand keys that are none of ours. */
const problemsToldMax = 20;
const shownCharsMax = 80;

/** CONFIG_INVALID, in the words of the Agent Runner document where it has some. `hint` gets a line of its own. */
export function invalidConfig(problems: readonly Problem[], hint?: string): Fault {
  const told = problems.slice(0, problemsToldMax).map((problem) => problem.text);
  const more = problems.length - told.length;
  const texts = more === 0 ? told : [...told, `and ${more} more`];
  const violations = problems.map(({ field, text }) => ({ field, description: text }));
  const message = `Invalid config: ${texts.join("; ")}${hint === undefined ? "" : `\n${hint}`}`;
  return new Fault("CONFIG_INVALID", message, { violations });
}

/** A value between quotes, on one line, however long it is. */
export function quote(text: string): string {
  return JSON.stringify(text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text);
}

export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
