// The outcome of a READ_FILE: the part of a file that the next outbox shows, and its wording.

import { showPath } from "./show-path.ts";

/** A requested file as the next outbox shows it. */
export type RequestedFile = { readonly path: string } & (
  | {
      readonly kind: "text";
      readonly text: string;
      /** The size of the file in bytes; set when the text is only its beginning. */
      readonly cutOfBytes?: number;
    }
  | { readonly kind: "binary"; readonly bytes: number }
  | { readonly kind: "missing" }
  | { readonly kind: "left-out" }
);

/** The maximum length of a path in a line about a left-out file: enough to recognize it. */
const pathUnitsMax = 200;

/** Prints a file as one or more lines, without the last newline. */
export function printRequestedFile(file: RequestedFile): string {
  const path = showPath(file.path);
  switch (file.kind) {
    case "text":
      return frame(path, endLine(file.text) + describeCut(file.cutOfBytes));
    case "binary":
      return frame(path, `(binary, ${file.bytes} bytes)\n`);
    case "missing":
      return `--- ${path} --- (file not found or access denied)`;
    case "left-out":
      return `--- ${shorten(path)} --- (left out: the outbox is full, ask for it again)`;
    default:
      return file satisfies never;
  }
}

function frame(path: string, lines: string): string {
  return `--- ${path} ---\n${lines}--- end ${path} ---`;
}

function endLine(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function describeCut(bytes: number | undefined): string {
  return bytes === undefined ? "" : `... (file truncated, ${bytes} bytes in all)\n`;
}

function shorten(path: string): string {
  return path.length > pathUnitsMax ? `${path.slice(0, pathUnitsMax).toWellFormed()}…` : path;
}
