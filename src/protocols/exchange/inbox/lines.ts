// The lines of a text by the protocol's rules: only LF ends a line, and white space around a line does not count.

/** Returns true for white space of the protocol's original parser. It differs from `trim()`: with U+0085, without U+FEFF. */
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

/** Returns the offset of the first character in [start, end) that is not blank; `end` when all are blank. */
export function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(text.charCodeAt(at))) {
    at += 1;
  }
  return at;
}

/** Returns the offset where the blanks at the end of [start, end) begin. */
export function dropBlanks(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isBlank(text.charCodeAt(at - 1))) {
    at -= 1;
  }
  return at;
}

/** Removes the blanks around a text. */
export function trimBlanks(text: string): string {
  const start = skipBlanks(text, 0, text.length);
  return text.slice(start, dropBlanks(text, start, text.length));
}

/** Returns the end of the line that contains `at`: its LF, or the end of the text. */
export function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Returns the number of a line, counted from 1. */
export function lineNumberAt(text: string, at: number): number {
  let number = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", end + 1)) {
    number += 1;
  }
  return number;
}

/** Searching for this much of a line is fast. In a repetitive text, a search for the whole of a long line is slow. */
const headCharsMax = 16;

/**
 * Finds the first line from `start`, where a line begins, that equals `wanted` apart from the blanks around it. Returns
 * undefined when no line does.
 */
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
