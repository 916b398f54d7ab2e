// The maximum size of a file that tools read or write as a whole.

/** Contract: 10 MiB. */
export const fileBytesMax = 10_485_760;

/** Returns the error for a file that is too large to read. */
export function tooLarge(path: string, bytes: number): string {
  return `file too large: ${path} (${bytes} bytes, max ${fileBytesMax})`;
}

/** Returns the error for content that is too large to write. */
export function contentTooLarge(bytes: number): string {
  return `content too large: ${bytes} bytes (max ${fileBytesMax})`;
}
