// Text from outside, which is UTF-8 or refused: bytes are never replaced by others in silence.

/** The text, without the mark that some editors put at its start; or where the first bytes are that are no character. */
export function decodeUtf8(bytes: Uint8Array): { readonly text: string } | { readonly invalidAt: number } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { invalidAt: findInvalid(bytes) };
  }
}

/** Where the bytes and what a decoder that replaces makes of them part, the replacement begins. */
function findInvalid(bytes: Uint8Array): number {
  const replaced = Buffer.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  let at = bytes.findIndex((byte, index) => byte !== replaced[index]);
  at = at === -1 ? bytes.length : at;
  while (isInside(replaced[at])) {
    at -= 1;
  }
  return at;
}

/** Whether a byte goes on with a character that began before it. */
function isInside(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
