// What `verify` asks of each format that it checks, and what it prints.

import type { Paint } from "../output.ts";

/** A format beside receipts. A file that is no receipt has it. */
export interface SignedFormat {
  /** For messages: `a JobSpec`. */
  readonly name: string;
  /** Its flags of `verify`, which are invalid for a receipt. */
  readonly flags: readonly { readonly long: string; readonly about: string }[];
  verify(path: string, bytes: Uint8Array, flags: Readonly<Record<string, string | undefined>>): Promise<Verdict>;
}

export interface Verdict {
  readonly isRight: boolean;
  /** For machines. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly show: (paint: Paint) => string;
}

/** What was found, under what it is about. */
export function showRow(title: string, text: string, paint: Paint): string {
  return `  ${paint("bold", title.padEnd(10))}  ${text}`;
}
