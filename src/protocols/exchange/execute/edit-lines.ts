// Replaces lines of a text. Pure.
// E1: lines end at LF, CRLF or a lone CR; the end of the text ends its last line; "" has none.
// E2: afterwards every line ends in LF, the last one too.
// E3: the new content is its lines at LF alone; "" is one empty line.

export interface LineEdit {
  /** Counted from 1, both included. An end beyond the text is its last line. */
  readonly startLine: number;
  readonly endLine: number;
  readonly content: string;
}

/** The new text, or how many lines there are where the range is none of them. */
export function editLines(
  text: string,
  { startLine, endLine, content }: LineEdit,
): { readonly text: string } | { readonly lines: number } {
  const before = endLines(text);
  const starts = findStart(before, startLine);
  if (startLine < 1 || endLine < startLine || starts === before.length) {
    return { lines: countLines(before) };
  }
  const rest = before.slice(findStart(before, endLine + 1));
  return { text: `${before.slice(0, starts)}${content}\n${rest}` };
}

function endLines(text: string): string {
  const same = text.replaceAll(/\r\n?/g, "\n");
  return same === "" || same.endsWith("\n") ? same : `${same}\n`;
}

/** Where a line starts; the end of the text for those beyond it. */
function findStart(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line && at < text.length; passed += 1) {
    at = text.indexOf("\n", at) + 1;
  }
  return at;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines;
}
