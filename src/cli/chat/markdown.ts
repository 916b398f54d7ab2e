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

/** Creates the style for one run. */
export function createMarkdownStyle(paint: Paint): TextStyle {
  let held = "";
  let isLineStart = true;
  /** The marks that began the code block in which the text is; empty outside. */
  let fence = "";
  let lineStyles: readonly Style[] = [];
  /** The printed text before `held`, in its line: its last character decides whether a span may begin. */
  let before = "";

  const emit = (text: string, styles: readonly Style[] = []): string => {
    before = text;
    return [...lineStyles, ...styles].reduce((painted: string, style) => paint(style, painted), text);
  };
  /** Takes the beginning of a line. Returns undefined while it is open what the line will be. */
  const takeStart = (isEnd: boolean): string | undefined => {
    const isWhole = isEnd || held.includes("\n");
    if (!isWhole && (fence !== "" || openStart.test(held) || fenceStart.test(held))) {
      return undefined;
    }
    isLineStart = false;
    lineStyles = [];
    before = "";
    const marks = fenceStart.exec(held)?.[0].trim() ?? "";
    if (fence !== "" || marks !== "") {
      return takeFenced(marks);
    }
    if (heading.test(held)) {
      held = held.replace(heading, "");
      lineStyles = ["bold"];
      return "";
    }
    if (quote.test(held)) {
      held = held.replace(quote, "");
      lineStyles = ["dim"];
      return emit("│ ");
    }
    const [mark = "", indent = ""] = bullet.exec(held) ?? [];
    held = held.slice(mark.length);
    return mark === "" ? "" : emit(`${indent}• `);
  };
  /** Takes a whole line that begins or ends a code block, or is in one. */
  const takeFenced = (marks: string): string => {
    const [line = ""] = held.split("\n", 1);
    held = held.slice(line.length);
    const isEnd = fence !== "" && marks.startsWith(fence) && line.trim() === marks;
    lineStyles = fence === "" || isEnd ? ["dim"] : ["cyan"];
    fence = isEnd ? "" : fence || marks;
    return emit(line);
  };
  /** Takes the next piece of a line. Returns undefined while a span is open. */
  const takePiece = (isEnd: boolean): string | undefined => {
    if (held.startsWith("\n")) {
      held = held.slice(1);
      isLineStart = true;
      return "\n";
    }
    const [text] = plain.exec(held) ?? [];
    if (text !== undefined) {
      held = held.slice(text.length);
      return emit(text);
    }
    const span = findSpan(held, before, isEnd);
    if (span === undefined) {
      return undefined;
    }
    held = held.slice(span.length);
    return emit(span.text, span.styles);
  };
  const take = (isEnd: boolean): string => {
    let printed = "";
    while (held !== "") {
      const piece = isLineStart ? takeStart(isEnd) : takePiece(isEnd);
      if (piece === undefined) {
        break;
      }
      printed += piece;
    }
    return printed;
  };
  return {
    write: (text) => {
      held += text;
      return take(false);
    },
    end: () => {
      const rest = take(true);
      [isLineStart, fence, lineStyles, before] = [true, "", [], ""];
      return rest;
    },
  };
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
