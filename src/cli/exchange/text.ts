// Reads the text of an answer or a task, from a file or standard input: strict UTF-8, without a byte order mark.

import { decodeText, nameOf, readInput } from "../input.ts";

/** The maximum size of an inbox, as the service limits it. */
export const inboxBytesMax = 4_194_304;
/** The maximum size of a task, as the service limits it. */
const taskBytesMax = 65_536;

/** Reads an answer from a file, or from standard input for "-". */
export async function readAnswer(path: string): Promise<string> {
  return decodeText(nameOf(path), await readInput(path, inboxBytesMax));
}

/** Returns the task that was typed; for "-" reads standard input without its last line end. */
export async function readTask(words: string): Promise<string> {
  return words === "-" ? decodeText(nameOf(words), await readInput(words, taskBytesMax)).trimEnd() : words;
}
