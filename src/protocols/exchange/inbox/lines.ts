// The lines of a text as the protocol sees them: only LF ends one, and white space around it does not count.

/** White space as the protocol's first reader has it, which is not that of `trim()`: with U+0085, without U+FEFF. */
export function isBlank(code: number): boolean {
  if (code < 0x80) {
    return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  }
  if (code < 0x1680) {
    return code === 0x85 || code === 0xa0;
  }
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Where the first character in [start, end) that is not blank stands; `end` when there is none. */
export function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) {
    at += 1;
  }
  return at;
}

/** Where the blanks begin that [start, end) ends in. */
export function dropBlanks(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isBlank(text.charCodeAt(at - 1))) {
    at -= 1;
  }
  return at;
}

export function trimBlanks(text: string): string {
  const start = skipBlanks(text, 0, text.length);
  return text.slice(start, dropBlanks(text, start, text.length));
}

/** Where the line that goes through `at` ends: at its LF, or at the end of the text. */
export function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Counted from 1. */
export function lineNumberAt(text: string, at: number): number {
  let number = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", end + 1)) {
    number += 1;
  }
  return number;
}

/** Enough of a line to be rare. A text that repeats itself makes the search for all of a long line slow. */
const headCharsMax = 16;

/** The first line from `start`, where a line begins, that is `wanted` but for the blanks around it. */
export function findLine(text: string, wanted: string, start: number): { start: number; next: number } | undefined {
  const head = wanted.slice(0, headCharsMax);
  for (let at = text.indexOf(head, start); at !== -1; at = text.indexOf(head, at + 1)) {
    const before = dropBlanksOfLine(text, start, at);
    const isFirst = before === start || text.charCodeAt(before - 1) === lineFeed;
    if (isFirst && text.startsWith(wanted, at)) {
      const after = skipBlanksOfLine(text, at + wanted.length);
      if (after === text.length || text.charCodeAt(after) === lineFeed) {
        return { start: before, next: after + 1 };
      }
    }
  }
  return undefined;
}

const lineFeed = 0x0a;

function dropBlanksOfLine(text: string, start: number, end: number): number {
  let at = end;
  for (; at > start; at -= 1) {
    const code = text.charCodeAt(at - 1);
    if (code === lineFeed || !isBlank(code)) {
      break;
    }
  }
  return at;
}

function skipBlanksOfLine(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === lineFeed || !isBlank(code)) {
      break;
    }
  }
  return at;
}
