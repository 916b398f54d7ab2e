// Prints the Markdown of a model for a terminal while it arrives: headings, emphasis, code, lists and quotes get styles. Written by hand:
// libraries render whole texts, or lose characters such as those of `a_b_c`.
//
// M1  Text is held only while its style is open: the beginning of a line, a span up to its end, the line of a fence.
// M2  Incomplete Markdown is printed as it is written.
// M3  The pieces in which a text arrives do not change the output.

import type { Paint, Style } from "../output.ts";
import type { TextStyle } from "../show.ts";

/** A longer span has no style, so that its text does not wait for an end that may never come. */
const spanCharsMax = 400;

/** What a line may still become, such as `##`, `  -` or `12.`. */
const openStart = /^ {0,8}(?:#{1,6}|[-*+]|\d{1,9}[.)]?|>|`{1,2}|~{1,2})? ?$/;
const fenceStart = /^ {0,3}(?:`{3,}|~{3,})/;
const heading = /^#{1,6} /;
const bullet = /^( {0,8})[-*+] /;
const quote = /^> ?/;
const plain = /^[^`*_\n]+/;
const word = /[\p{L}\p{N}_]$/u;

/** The style of one run's text. */
export class MarkdownStyle implements TextStyle {
  readonly #paint: Paint;
  /** Text whose style is open. */
  #held = "";
  #isLineStart = true;
  /** The marks that began the code block in which the text is; empty outside. */
  #fence = "";
  #lineStyles: readonly Style[] = [];
  /** The printed text before `#held`, in its line: its last character decides whether a span may begin. */
  #before = "";

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  write(text: string): string {
    this.#held += text;
    return this.#take(false);
  }

  end(): string {
    const rest = this.#take(true);
    [this.#isLineStart, this.#fence, this.#lineStyles, this.#before] = [true, "", [], ""];
    return rest;
  }

  #take(isEnd: boolean): string {
    let printed = "";
    while (this.#held !== "") {
      const piece = this.#isLineStart ? this.#takeStart(isEnd) : this.#takePiece(isEnd);
      if (piece === undefined) {
        break;
      }
      printed += piece;
    }
    return printed;
  }

  /** Takes the beginning of a line. Returns undefined while the kind of the line is open. */
  #takeStart(isEnd: boolean): string | undefined {
    const held = this.#held;
    const isWhole = isEnd || held.includes("\n");
    if (!isWhole && (this.#fence !== "" || openStart.test(held) || fenceStart.test(held))) {
      return undefined;
    }
    [this.#isLineStart, this.#lineStyles, this.#before] = [false, [], ""];
    const marks = fenceStart.exec(held)?.[0].trim() ?? "";
    if (this.#fence !== "" || marks !== "") {
      return this.#takeFenced(marks);
    }
    if (heading.test(held)) {
      this.#held = held.replace(heading, "");
      this.#lineStyles = ["bold"];
      return "";
    }
    if (quote.test(held)) {
      this.#held = held.replace(quote, "");
      this.#lineStyles = ["dim"];
      return this.#emit("│ ");
    }
    const [mark = "", indent = ""] = bullet.exec(held) ?? [];
    this.#held = held.slice(mark.length);
    return mark === "" ? "" : this.#emit(`${indent}• `);
  }

  /** Takes a whole line that begins or ends a code block, or is in one. */
  #takeFenced(marks: string): string {
    const [line = ""] = this.#held.split("\n", 1);
    this.#held = this.#held.slice(line.length);
    const fence = this.#fence;
    const isEnd = fence !== "" && marks.startsWith(fence) && line.trim() === marks;
    this.#lineStyles = fence === "" || isEnd ? ["dim"] : ["cyan"];
    this.#fence = isEnd ? "" : fence || marks;
    return this.#emit(line);
  }

  /** Takes the next piece of a line. Returns undefined while a span is open. */
  #takePiece(isEnd: boolean): string | undefined {
    if (this.#held.startsWith("\n")) {
      this.#held = this.#held.slice(1);
      this.#isLineStart = true;
      return "\n";
    }
    const [text] = plain.exec(this.#held) ?? [];
    if (text !== undefined) {
      this.#held = this.#held.slice(text.length);
      return this.#emit(text);
    }
    const span = findSpan(this.#held, this.#before, isEnd);
    if (span === undefined) {
      return undefined;
    }
    this.#held = this.#held.slice(span.length);
    return this.#emit(span.text, span.styles);
  }

  #emit(text: string, styles: readonly Style[] = []): string {
    this.#before = text;
    return [...this.#lineStyles, ...styles].reduce((painted: string, style) => this.#paint(style, painted), text);
  }
}

interface Span {
  /** The number of characters with the marks. */
  readonly length: number;
  readonly text: string;
  readonly styles: readonly Style[];
}

/** Returns the span at the beginning of `held`, or its marks as text; undefined while its end may still come. */
function findSpan(held: string, before: string, isEnd: boolean): Span | undefined {
  const line = held.slice(0, spanCharsMax).split("\n", 1)[0] ?? "";
  const isWhole = isEnd || line.length < Math.min(held.length, spanCharsMax) || line.length === spanCharsMax;
  const [marks = ""] = /^(?:`+|\*+|_+)/.exec(line) ?? [];
  if (marks === line && !isWhole) {
    return undefined;
  }
  const isCode = marks.startsWith("`");
  const mayBegin = isCode || (/\S/.test(line[marks.length] ?? "") && !word.test(before));
  const styles = isCode ? (["cyan"] as const) : emphasis[marks.length];
  const end = mayBegin ? findEnd(line, marks, isCode) : -1;
  if (styles !== undefined && end !== -1 && (isWhole || end + marks.length < line.length)) {
    return { length: end + marks.length, text: line.slice(marks.length, end), styles };
  }
  const isText = styles === undefined || !mayBegin || isWhole;
  return isText ? { length: marks.length, text: marks, styles: [] } : undefined;
}

const emphasis: Readonly<Record<number, readonly Style[]>> = { 1: ["italic"], 2: ["bold"], 3: ["bold", "italic"] };

/** Returns where the same marks end the span, or -1. Emphasis does not end after a blank, or before a letter. */
function findEnd(line: string, marks: string, isCode: boolean): number {
  const mark = marks[0];
  for (let at = line.indexOf(marks, marks.length); at !== -1; at = line.indexOf(marks, at + 1)) {
    const [last = "", next = ""] = [line[at - 1], line[at + marks.length]];
    const isLonger = last === mark || next === mark;
    if (!isLonger && (isCode || (/\S/.test(last) && !/[\p{L}\p{N}_]/u.test(next)))) {
      return at;
    }
  }
  return -1;
}
