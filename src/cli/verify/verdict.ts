// What is asked of every kind of thing that can be verified, and what is told of it.

import type { Paint } from "../output.ts";

export interface VerifyFlags {
  readonly canonical?: string;
  readonly trustedKeys?: string;
  readonly jwks?: string;
  readonly log?: string;
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
