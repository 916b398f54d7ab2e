// Decodes text from outside. Invalid UTF-8 is refused: bytes are never replaced silently.

/** Returns the text without a byte order mark, or the offset of the first invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): { readonly text: string } | { readonly invalidAt: number } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { invalidAt: findInvalid(bytes) };
  }
}

/** Returns the offset where the bytes differ from the output of a replacing decoder: the first replacement starts there. */
function findInvalid(bytes: Uint8Array): number {
  const replaced = Buffer.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  let at = bytes.findIndex((byte, index) => byte !== replaced[index]);
  at = at === -1 ? bytes.length : at;
  while (isInside(replaced[at])) {
    at -= 1;
  }
  return at;
}

/** Returns true for a continuation byte of a character. */
function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
