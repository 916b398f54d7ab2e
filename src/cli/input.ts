// Reads the input of commands: a file, or standard input for "-", whole up to a limit, or line by line.

import { createReadStream } from "node:fs";
import { decodeUtf8 } from "../platform/base/utf8.ts";
import { CommandError } from "./command-error.ts";

/** The maximum size of a JobSpec with its wrapper, as the service limits it. */
export const specBytesMax = 1_048_576;

/** Reads all of it. Throws a `CommandError` that names the file when it is unreadable or longer than `bytesMax`. */
export async function readInput(path: string, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(path)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > bytesMax) {
      break;
    }
  }
  const bytes = Buffer.concat(chunks);
  assertLength(path, bytes, bytesMax);
  return bytes;
}

/** Throws a `CommandError` when the text is longer than `bytesMax`. */
export function assertLength(path: string, { length }: Uint8Array, bytesMax: number): void {
  if (length > bytesMax) {
    throw new CommandError(`${nameOf(path)} is longer than ${bytesMax} bytes`, { reason: "FILE_TOO_LONG" });
  }
}

/** Decodes a text. Throws a `CommandError` that names the first invalid byte. */
export function decodeText(name: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) {
    return decoded.text;
  }
  const what = `${name} is not UTF-8 at byte ${decoded.invalidAt}`;
  throw new CommandError(what, { reason: "NOT_UTF8", fix: "save it as UTF-8" });
}

/** The maximum line: more than the contract's largest message with every character escaped. */
const lineBytesMax = 67_108_864;
const newline = 0x0a;

/** Yields the lines of a text; bytes that are not UTF-8 become U+FFFD. Throws a `CommandError`. */
export async function* readLines(path: string): AsyncGenerator<string> {
  for await (const line of readRawLines(path)) {
    yield line.toString();
  }
}

/** Yields the bytes of each line. Only a newline ends a line, because JSON may hold U+2028. Throws a `CommandError`. */
export async function* readRawLines(path: string): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(path)) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield Buffer.concat([...begun, chunk.subarray(start, end)]);
      begun = [];
      length = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    begun.push(rest);
    length += rest.length;
    if (length > lineBytesMax) {
      const what = `${nameOf(path)} has a line that is longer than ${lineBytesMax} bytes`;
      throw new CommandError(what, { reason: "FILE_TOO_LONG" });
    }
  }
  yield Buffer.concat(begun);
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    yield* path === "-" ? process.stdin : createReadStream(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot read ${nameOf(path)}: ${why}`, { reason: "FILE_UNREADABLE", cause });
  }
}

/** Returns the name of the input for messages: "standard input" for "-". */
export function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}
