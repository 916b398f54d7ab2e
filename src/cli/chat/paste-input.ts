// The input of a prompt: the terminal's, with a sign in place of each line end of a paste. So a paste is one line, which a person can
// still change before it is sent.

import { Transform, type TransformCallback } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream } from "node:tty";

const pasteBegins = "\u001b[200~";
const pasteEnds = "\u001b[201~";
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it
const marks = /(\u001b\[20[01]~)/;
const lineEnd = "⏎";

/** Returns the text of a line, with its line ends. */
export function withLineEnds(line: string): string {
  return line.replaceAll(lineEnd, "\n");
}

/** Reads the terminal until it is disposed. */
export class PasteInput extends Transform implements Disposable {
  readonly #terminal: ReadStream;
  readonly #decoder = new StringDecoder("utf8");
  /** The beginning of a mark whose rest has not arrived. */
  #held = "";
  #isPasting = false;

  constructor(terminal: ReadStream) {
    super({ encoding: "utf8" });
    this.#terminal = terminal;
    terminal.pipe(this);
  }

  /** The reader of lines calls it. */
  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = this.#held + this.#decoder.write(chunk);
    this.#held = findBegun(text);
    const parts = text.slice(0, text.length - this.#held.length).split(marks);
    done(null, parts.map((part) => this.#take(part)).join(""));
  }

  [Symbol.dispose](): void {
    this.#terminal.unpipe(this);
    this.#terminal.pause();
    this.destroy();
  }

  #take(part: string): string {
    if (part === pasteBegins || part === pasteEnds) {
      this.#isPasting = part === pasteBegins;
      return "";
    }
    return this.#isPasting ? part.replace(/\r\n|\r|\n/g, lineEnd) : part;
  }
}

/** Returns the beginning of a mark at the end of a text. The key Escape alone is not one. */
function findBegun(text: string): string {
  const begun = [5, 4, 3, 2].map((length) => text.slice(-length));
  return begun.find((end) => end.length > 1 && [pasteBegins, pasteEnds].some((mark) => mark.startsWith(end))) ?? "";
}
