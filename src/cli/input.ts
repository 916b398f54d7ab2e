// What commands read: a file, or standard input for "-", up to a limit.

import { createReadStream } from "node:fs";
import { CommandError } from "./command-error.ts";

/** Throws a `CommandError` that names the file. */
export async function readInput(path: string, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const source = path === "-" ? process.stdin : createReadStream(path);
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytesMax) {
        break;
      }
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot read ${nameOf(path)}: ${why}`, { reason: "FILE_UNREADABLE", cause });
  }
  if (length > bytesMax) {
    throw new CommandError(`${nameOf(path)} is longer than ${bytesMax} bytes`, { reason: "FILE_TOO_LONG" });
  }
  return Buffer.concat(chunks);
}

export function nameOf(path: string): string {
  return path === "-" ? "standard input" : path;
}
