// Prints the arguments of a call as JSON for a client's program: with sorted keys, and within the limits of such programs.

import { parseExact, RawJson } from "../../platform/base/json/exact.ts";
import { joinPrinted } from "../../platform/base/json/text.ts";
import type { ToolArguments } from "./arguments.ts";
import { isDeeper } from "./depth.ts";

/** The maximum depth. PHP's decoder, as its clients use it, fails beyond it; the whole body is one level deeper. */
const depthMax = 63;
const bytesMax = 1_048_576;

/**
 * Returns the arguments as JSON, or the problem when they are nested too deeply or too large. `written` is their text: it has the
 * digits of large integers.
 */
export function printArguments(
  args: ToolArguments,
  written: string | undefined,
): { readonly json: string } | { readonly problem: string } {
  if (isDeeper(args, depthMax)) {
    return { problem: `nested more than ${depthMax} levels deep` };
  }
  const exact = written === undefined || written.trim() === "" ? args : (parseExact(written) ?? args);
  // The document's service escapes the same characters, so that no text can end a script or a line.
  const json = print(exact).replace(/[<>&\u2028\u2029]/g, escapeCharacter);
  const sizeBytes = Buffer.byteLength(json);
  return sizeBytes > bytesMax ? { problem: `too large: ${sizeBytes} bytes (max ${bytesMax})` } : { json };
}

function print(value: unknown): string {
  if (value instanceof RawJson) {
    return value.text;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    return `[${joinPrinted(value.map(print))}]`;
  }
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${joinPrinted(entries.map(([key, each]) => `${JSON.stringify(key)}:${print(each)}`))}}`;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
