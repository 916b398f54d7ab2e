// The interface of a format that `verify` checks, and the form of its verdict.

import type { Paint } from "../output.ts";

/** A format beside receipts. `verify` uses it for files that are not receipts. */
export interface SignedFormat {
  /** The name in messages, such as `a JobSpec`. */
  readonly name: string;
  /** The flags of `verify` for this format; they are invalid for a receipt. */
  readonly flags: readonly { readonly long: string; readonly about: string }[];
  verify(path: string, bytes: Uint8Array, flags: Readonly<Record<string, string | undefined>>): Promise<Verdict>;
}

/** The verdict on a file. */
export interface Verdict {
  readonly isRight: boolean;
  /** The value for programs. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly show: (paint: Paint) => string;
}

/** Prints a finding after its title. */
export function showRow(title: string, text: string, paint: Paint): string {
  return `  ${paint("bold", title.padEnd(10))}  ${text}`;
}
