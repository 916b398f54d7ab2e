// Replaces lines of a text. Pure.
// E1: a line ends at LF, CRLF or a lone CR; the end of the text ends its last line; "" has no lines.
// E2: afterwards every line ends in LF, the last one too.
// E3: the new content is split at LF alone; "" is one empty line.

/** The lines to replace and their new content. */
export interface LineEdit {
  /** Counted from 1, both included. An end beyond the text means its last line. */
  readonly startLine: number;
  readonly endLine: number;
  readonly content: string;
}

/** Returns the new text. Returns the number of lines when the range is not in the text. */
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

/** Returns the offset of a line's start; the end of the text for lines beyond it. */
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
