// Shows a path in an outbox on one line, for any file name.

/** Prints a path on one line. Line ends become `\n` and `\r`; other control characters and invalid UTF-8 become `?`. */
export function showPath(path: string): string {
  return path
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll(/[\p{Cc}\u2028\u2029\ufffd]/gu, "?");
}
