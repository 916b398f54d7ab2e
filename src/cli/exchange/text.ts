// The text of an answer or a task, from a file or standard input: strict UTF-8, without the mark that some editors begin with.

import { decodeUtf8 } from "../../platform/base/utf8.ts";
import { CommandError } from "../command-error.ts";
import { nameOf, readInput } from "../input.ts";

/** Of an inbox: what a service takes. */
export const inboxBytesMax = 4_194_304;
/** Of a task: what a service takes. */
const taskBytesMax = 65_536;

/** Throws a `CommandError` that tells the first byte that is wrong. */
export function decodeText(name: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) {
    return decoded.text;
  }
  const what = `${name} is not UTF-8 at byte ${decoded.invalidAt}`;
  throw new CommandError(what, { reason: "NOT_UTF8", fix: "save it as UTF-8" });
}

export async function readAnswer(path: string): Promise<string> {
  return decodeText(nameOf(path), await readInput(path, inboxBytesMax));
}

/** What was typed, or standard input for "-", which ends in a line end that nobody means. */
export async function readTask(words: string): Promise<string> {
  return words === "-" ? decodeText(nameOf(words), await readInput(words, taskBytesMax)).trimEnd() : words;
}
