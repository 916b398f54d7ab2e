// The search behind the tool grep: finds lines by a regular expression in Go's syntax. The engine's time grows only linearly
// with the length of the text. A line that ends in CR keeps it.

import { closeSync, fstatSync, readSync } from "node:fs";
import { RE2JS, RE2JSException } from "re2js";
import { CappedText } from "../cap.ts";
import type { ToolOutcome } from "../tool.ts";
import { compileGlobOrError, pathBelow } from "./find-files.ts";
import type { LineSearch } from "./request.ts";
import { openFileIn, type TreeFile, visitFiles } from "./tree.ts";

/** Contract, like the next three: the maximum number of lines. */
const linesMax = 100;
const skippedNames: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  "vendor",
  ".idea",
  ".vscode",
  "__pycache__",
  ".mypy_cache",
  ".tox",
  "dist",
]);
const fileBytesMax = 1_048_576;
/** A NUL within this many bytes at the start makes a file binary. */
const sampleBytes = 512;

/** Returns the matching lines as `path:number:line`. */
export function findLines({ root, pattern, include }: LineSearch): ToolOutcome {
  const lines = compileLines(pattern);
  const names = include === undefined ? undefined : compileGlobOrError(include);
  if ("error" in lines) {
    return lines;
  }
  if (names !== undefined && "error" in names) {
    return names;
  }
  const found = new FoundLines(lines);
  if (!root.isDirectory) {
    found.addFile(root.fd, root.joinedPath);
    return { content: found.finish() };
  }
  const tree = {
    directoryFd: root.fd,
    realPath: root.realPath,
    hidden: root.hidden,
    skippedNames,
    depthMax: Number.POSITIVE_INFINITY,
  };
  const leftOut = visitFiles(tree, (file) => {
    if (names?.matches(file.name) !== false) {
      addTreeFile(found, file, root.joinedPath);
    }
    return !found.complete;
  });
  return { content: leftOut === undefined ? found.finish() : `${found.finish()}... (${leftOut})` };
}

function addTreeFile(found: FoundLines, { directoryFd, name, path }: TreeFile, rootPath: string): void {
  const fd = openFileIn(directoryFd, name);
  if (fd === undefined) {
    return;
  }
  try {
    found.addFile(fd, pathBelow(rootPath, path));
  } finally {
    closeSync(fd);
  }
}

interface LinePattern {
  /** Tests one line without its newline. */
  readonly matches: (line: string) => boolean;
  /** Returns false only when no line of the text matches. Testing a whole text is faster than testing its lines. */
  readonly mayMatchIn: (text: string) => boolean;
}

function compileLines(pattern: string): LinePattern | { readonly error: string } {
  try {
    const line = RE2JS.compile(pattern);
    const matches = (text: string): boolean => line.test(text);
    // `\A` and `\z` mean the ends of a line here, but the ends of the whole text in `mayMatchIn`. Flags may do the same to `^`
    // and `$`.
    if (/\\[Az]|\(\?\w*-/.test(pattern)) {
      return { matches, mayMatchIn: () => true };
    }
    const text = RE2JS.compile(pattern, RE2JS.MULTILINE);
    return { matches, mayMatchIn: (whole) => text.test(whole) };
  } catch (error) {
    if (error instanceof RE2JSException) {
      return { error: `invalid regex: ${error.message}` };
    }
    throw error;
  }
}

class FoundLines {
  readonly #pattern: LinePattern;
  readonly #content = new CappedText();
  /** One byte larger than the maximum, to detect a file that grew. */
  readonly #buffer = Buffer.allocUnsafe(fileBytesMax + 1);
  #count = 0;

  constructor(pattern: LinePattern) {
    this.#pattern = pattern;
  }

  get complete(): boolean {
    return this.#count >= linesMax;
  }

  finish(): string {
    return this.#count === 0 ? "No matches found" : this.#content.toString();
  }

  /** Searches a file. Skips files that are not regular, have several names, are too large or binary. */
  addFile(fd: number, path: string): void {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.nlink > 1 || stat.size > fileBytesMax) {
      return;
    }
    const bytes = this.#buffer.subarray(0, readInto(this.#buffer, fd));
    if (bytes.length <= fileBytesMax && !bytes.subarray(0, sampleBytes).includes(0)) {
      this.#addText(bytes.toString(), path);
    }
  }

  #addText(text: string, path: string): void {
    if (!this.#pattern.mayMatchIn(text)) {
      return;
    }
    for (let start = 0, number = 1; start < text.length && !this.complete; number += 1) {
      const newlineAt = text.indexOf("\n", start);
      const end = newlineAt === -1 ? text.length : newlineAt;
      const line = text.slice(start, end);
      if (this.#pattern.matches(line)) {
        this.#content.add(`${path}:${number}:${line}\n`);
        this.#count += 1;
      }
      start = end + 1;
    }
  }
}

/** Reads from the start of the file until the buffer is full or the file ends. */
function readInto(buffer: Buffer, fd: number): number {
  let length = 0;
  while (length < buffer.length) {
    const bytesRead = readSync(fd, buffer, length, buffer.length - length, length);
    if (bytesRead === 0) {
      break;
    }
    length += bytesRead;
  }
  return length;
}
