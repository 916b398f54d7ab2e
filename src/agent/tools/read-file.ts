// The tool read_file: returns the numbered lines of a text file. It reads in pieces, so that memory use does not depend on the
// size of the file or the length of its lines.

import type { FileHandle } from "node:fs/promises";
import { filePathParameter, readInteger, readText, type ToolArguments } from "./arguments.ts";
import { CappedText } from "./cap.ts";
import { fileBytesMax, tooLarge } from "./file-size.ts";
import { describeFailure, type PathFailure } from "./path-failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { OpenedPath, openInside } from "./walk.ts";

/** The tool read_file. */
export const readFile: Tool = {
  name: "read_file",
  description:
    "Reads a text file and returns its lines, each as the line number, a tab and the text. " +
    "Long files are cut at 100 KiB: read on with offset and limit.",
  parameters: {
    type: "object",
    properties: {
      file_path: filePathParameter,
      offset: { type: "integer", description: "Line to start at; the first line is 1. Default: 1." },
      limit: { type: "integer", description: "How many lines to return. Default: all." },
    },
    required: ["file_path"],
  },
  afterCrash: "again",
  run: runReadFile,
};

/** The size of one read, small enough to leave the event loop free between reads. */
const pieceBytes = 65_536;

/** The width of a line number. Up to 999 999 lines stay aligned. */
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
  // A directory passes `stat` and fails only when it is read.
  return failure.kind === "system" && failure.errno === "EISDIR"
    ? `read error: ${describeFailure(failure, "read")}`
    : describeFailure(failure, "stat");
}

/** Feeds the file to `lines` until they are complete. Returns the bytes read, which may exceed the maximum by one piece. */
async function readPieces(handle: FileHandle, lines: NumberedLines, signal: AbortSignal): Promise<number> {
  const buffer = new Uint8Array(pieceBytes);
  // A byte order mark is text like any other, because an edit must match it.
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

/** Numbers the lines of a text and keeps a range of them. The text arrives in pieces, cut between any two characters. */
class NumberedLines {
  readonly #first: number;
  readonly #last: number;
  readonly #output = new CappedText();
  #line = 1;
  /** True when part of the current line has been read. */
  #begun = false;
  /** True when the last piece ended in a CR. The next character decides whether the CR belongs to the text. */
  #heldReturn = false;

  constructor(offset = 1, limit = 0) {
    this.#first = Math.max(offset, 1);
    this.#last = limit > 0 ? this.#first + limit - 1 : Number.POSITIVE_INFINITY;
  }

  /** True when later text cannot change the output. */
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

  /** Ends the last line and returns the output. */
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
