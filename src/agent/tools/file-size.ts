// How large a file may be that tools read or write as a whole.

/** Contract: 10 MiB. */
export const fileBytesMax = 10_485_760;

export function tooLarge(path: string, bytes: number): string {
  return `file too large: ${path} (${bytes} bytes, max ${fileBytesMax})`;
}

export function contentTooLarge(bytes: number): string {
  return `content too large: ${bytes} bytes (max ${fileBytesMax})`;
}
