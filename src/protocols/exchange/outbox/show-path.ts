// How an outbox shows a path: on one line, whatever a file is called.

/** Line ends become `\n` and `\r`; other control characters, and what was not UTF-8, become `?`. */
export function showPath(path: string): string {
  return path
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll(/[\p{Cc}\u2028\u2029\ufffd]/gu, "?");
}
