// What becomes of a READ_FILE: what the next outbox shows of a file, and in which words.

import { showPath } from "./show-path.ts";

export type RequestedFile = { readonly path: string } & (
  | {
      readonly kind: "text";
      readonly text: string;
      /** Size of the file; set when the text is only its beginning. */
      readonly cutOfBytes?: number;
    }
  | { readonly kind: "binary"; readonly bytes: number }
  | { readonly kind: "missing" }
  | { readonly kind: "left-out" }
);

/** Enough to know it by, where there is no room for more. */
const pathUnitsMax = 200;

/** One or more lines, without the newline of the last. */
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
