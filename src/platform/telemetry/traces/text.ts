// What of a text may stand in a span: cut to size, and of errors the code alone.

import { unnamedError } from "./names.ts";

/** Enough to see what was asked for and answered; spans wait in memory until they are sent. */
export const contentBytesMax = 8_192;
/** Names of agents, models and tools are the callers' to choose. */
const nameBytesMax = 256;

const encoder = new TextEncoder();

/** The longest beginning of whole characters that fits. A copy: a slice would keep all of the text in memory. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * bytesPerCharMax <= bytesMax) {
    return text;
  }
  const bytes = Buffer.alloc(bytesMax);
  const { written } = encoder.encodeInto(text, bytes);
  return bytes.toString("utf8", 0, written);
}

/** UTF-8 needs at most this much for one UTF-16 unit. */
const bytesPerCharMax = 3;

/** Undefined where there is no name: then there is no attribute either. */
export function cutName(name: string): string | undefined {
  return name === "" ? undefined : cutText(name, nameBytesMax);
}

/** The operation alone where there is no name. */
export function spanName(operation: string, name: string): string {
  const cut = cutName(name);
  return cut === undefined ? operation : `${operation} ${cut}`;
}

/** `host.run_lost`, `RATE_LIMITED`, `timed-out` or `503`; a sentence may repeat what nobody should read. */
const codePattern = /^(?:[a-z]+(?:[._-][a-z]+)*|[A-Z]+(?:_[A-Z]+)*|\d{3})$/;
const codeCharsMax = 64;

/** What a span tells of a failure: always the type, and the text as content is told. */
export interface SpanFailure {
  readonly errorType: string;
  readonly text?: string;
}

export function failureOfCode(code: string): SpanFailure {
  return code.length <= codeCharsMax && codePattern.test(code) ? { errorType: code } : failureOfText(code);
}

export function failureOfText(text: string): SpanFailure {
  return { errorType: unnamedError, text };
}
