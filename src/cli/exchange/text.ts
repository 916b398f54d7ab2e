// Reads the text of an answer or a task, from a file or standard input: strict UTF-8, without a byte order mark.

import { decodeUtf8 } from "../../platform/base/utf8.ts";
import { CommandError } from "../command-error.ts";
import { nameOf, readInput } from "../input.ts";

/** The maximum size of an inbox, as the service limits it. */
export const inboxBytesMax = 4_194_304;
/** The maximum size of a task, as the service limits it. */
const taskBytesMax = 65_536;

/** Decodes a text. Throws a `CommandError` that names the first invalid byte. */
export function decodeText(name: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) {
    return decoded.text;
  }
  const what = `${name} is not UTF-8 at byte ${decoded.invalidAt}`;
  throw new CommandError(what, { reason: "NOT_UTF8", fix: "save it as UTF-8" });
}

/** Reads an answer from a file, or from standard input for "-". */
export async function readAnswer(path: string): Promise<string> {
  return decodeText(nameOf(path), await readInput(path, inboxBytesMax));
}

/** Returns the task that was typed; for "-" reads standard input without its last line end. */
export async function readTask(words: string): Promise<string> {
  return words === "-" ? decodeText(nameOf(words), await readInput(words, taskBytesMax)).trimEnd() : words;
}
