// Texts in spans: truncated to a maximum, and reduced to the code for errors.

import { unnamedError } from "./names.ts";

/**
 * The maximum size of content, in bytes: enough to see the question and the answer. Spans wait in memory until they are sent.
 */
export const contentBytesMax = 8_192;
/** The maximum size of a name, in bytes. Clients choose the names of agents, models and tools. */
const nameBytesMax = 256;

const encoder = new TextEncoder();

/** Returns the longest prefix of whole characters that fits. Returns a copy: a slice would keep the whole text in memory. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * bytesPerCharMax <= bytesMax) {
    return text;
  }
  const bytes = Buffer.alloc(bytesMax);
  const { written } = encoder.encodeInto(text, bytes);
  return bytes.toString("utf8", 0, written);
}

/** The maximum number of UTF-8 bytes per UTF-16 code unit. */
const bytesPerCharMax = 3;

/** Returns undefined for an empty name: the attribute is then omitted. */
export function cutName(name: string): string | undefined {
  return name === "" ? undefined : cutText(name, nameBytesMax);
}

/** Returns `<operation> <name>`, or only the operation for an empty name. */
export function spanName(operation: string, name: string): string {
  const cut = cutName(name);
  return cut === undefined ? operation : `${operation} ${cut}`;
}

/**
 * Matches codes such as `host.run_lost`, `RATE_LIMITED`, `timed-out` or `503`. A sentence may contain text that must stay
 * private.
 */
const codePattern = /^(?:[a-z]+(?:[._-][a-z]+)*|[A-Z]+(?:_[A-Z]+)*|\d{3})$/;
const codeCharsMax = 64;

/** A failure in a span: the type is always recorded, the text only as content. */
export interface SpanFailure {
  readonly errorType: string;
  readonly text?: string;
}

/** Returns the failure of a code. A text that does not look like a code is treated as content. */
export function failureOfCode(code: string): SpanFailure {
  return code.length <= codeCharsMax && codePattern.test(code) ? { errorType: code } : failureOfText(code);
}

/** Returns the failure of a text. */
export function failureOfText(text: string): SpanFailure {
  return { errorType: unnamedError, text };
}
