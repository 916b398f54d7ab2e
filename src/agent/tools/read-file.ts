// The tool read_file: the lines of a text file with their numbers. Reads piece by piece, so that memory does not depend on
// the size of the file or the length of its lines.

import type { FileHandle } from "node:fs/promises";
import { readInteger, readText, type ToolArguments } from "./arguments.ts";
import { CappedText } from "./cap.ts";
import { fileBytesMax, tooLarge } from "./file-size.ts";
import { describeFailure, type PathFailure } from "./path-failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { OpenedPath, openInside } from "./walk.ts";

export const readFile: Tool = {
  name: "read_file",
  description:
    "Reads a text file and returns its lines, each as the line number, a tab and the text. " +
    "Long files are cut at 100 KiB: read on with offset and limit.",
  parameters: {
    type: "object",
    properties: {
      file_path: {
        type: "string",
        description: "Path of the file, relative to the work directory or absolute inside it.",
      },
      offset: { type: "integer", description: "Line to start at; the first line is 1. Default: 1." },
      limit: { type: "integer", description: "How many lines to return. Default: all." },
    },
    required: ["file_path"],
  },
  afterCrash: "again",
  run: runReadFile,
};

/** One read. Small enough to leave the event loop free between two of them. */
const pieceBytes = 65_536;

/** Room for the numbers of 999 999 lines before the text moves to the right. */
const numberWidth = 6;

async function runReadFile(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const path = readText(args, "file_path");
  if (path === undefined) {
    return { error: "file_path is required" };
  }
  const opened = await openInside(context, path, "file");
  if (!(opened instanceof OpenedPath)) {
    return { error: describeReadFailure(opened) };
  }
  await using file = opened;
  if (file.stat.size > fileBytesMax) {
    return { error: tooLarge(file.joinedPath, file.stat.size) };
  }
  const lines = new NumberedLines(readInteger(args, "offset"), readInteger(args, "limit"));
  const bytesRead = await readPieces(file.handle, lines, context.signal);
  if (bytesRead > fileBytesMax) {
    return { error: tooLarge(file.joinedPath, bytesRead) };
  }
  return { content: lines.finish() || "(empty file or offset beyond end)" };
}

function describeReadFailure(failure: PathFailure): string {
  // A directory is found, and only then cannot be read.
  return failure.kind === "system" && failure.errno === "EISDIR"
    ? `read error: ${describeFailure(failure, "read")}`
    : describeFailure(failure, "stat");
}

/** Feeds the file to `lines` until they need no more. Returns the bytes read: past the limit if the file grew meanwhile. */
async function readPieces(handle: FileHandle, lines: NumberedLines, signal: AbortSignal): Promise<number> {
  const buffer = new Uint8Array(pieceBytes);
  // The mark at the start of some files is text like any other: an edit has to find it.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let bytesTotal = 0;
  while (!lines.complete && bytesTotal <= fileBytesMax) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, null);
    if (bytesRead === 0) {
      lines.add(decoder.decode());
      break;
    }
    bytesTotal += bytesRead;
    lines.add(decoder.decode(buffer.subarray(0, bytesRead), { stream: true }));
  }
  return bytesTotal;
}

/** Numbers the lines of a text that arrives in pieces, cut anywhere between two characters, and keeps a window of them. */
class NumberedLines {
  readonly #first: number;
  readonly #last: number;
  readonly #output = new CappedText();
  #line = 1;
  /** Something of the current line has been seen. */
  #begun = false;
  /** The last piece ended in a CR. Whether it belongs to the text shows in what follows. */
  #heldReturn = false;

  constructor(offset = 1, limit = 0) {
    this.#first = Math.max(offset, 1);
    this.#last = limit > 0 ? this.#first + limit - 1 : Number.POSITIVE_INFINITY;
  }

  /** No later text can change the output. */
  get complete(): boolean {
    return this.#line > this.#last;
  }

  add(piece: string): void {
    if (piece === "") {
      return;
    }
    let text = this.#heldReturn ? `\r${piece}` : piece;
    this.#heldReturn = text.endsWith("\r");
    if (this.#heldReturn) {
      text = text.slice(0, -1);
    }
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#write(text.slice(start, text[end - 1] === "\r" ? end - 1 : end));
      this.#endLine();
      start = end + 1;
    }
    if (start < text.length || this.#heldReturn) {
      this.#write(text.slice(start));
    }
  }

  /** The end of the text ends its last line. */
  finish(): string {
    if (this.#begun) {
      this.#endLine();
    }
    return this.#output.toString();
  }

  #write(part: string): void {
    if (this.#line >= this.#first && !this.complete) {
      this.#output.add(this.#begun ? part : `${String(this.#line).padStart(numberWidth)}\t${part}`);
    }
    this.#begun = true;
  }

  #endLine(): void {
    if (this.#line >= this.#first && !this.complete) {
      this.#output.add("\n");
    }
    this.#line += 1;
    this.#begun = false;
  }
}
