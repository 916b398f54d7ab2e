// Where two texts differ first, counted in bytes, since bytes are what a signature covers.

/** A text cut at the first byte that differs. */
export interface Cut {
  readonly before: string;
  /** The character with the first different byte; empty at the end of the text. */
  readonly at: string;
  readonly after: string;
}

/** Two texts that differ, and the number of equal bytes before the difference. */
export interface Difference {
  readonly offset: number;
  readonly expected: Cut;
  readonly given: Cut;
}

/** Returns undefined for texts with the same bytes. */
export function findDifference(expected: string, given: string): Difference | undefined {
  const [one, other] = [new TextEncoder().encode(expected), new TextEncoder().encode(given)];
  const shorter = Math.min(one.length, other.length);
  let offset = 0;
  while (offset < shorter && one[offset] === other[offset]) {
    offset += 1;
  }
  if (offset === one.length && offset === other.length) {
    return undefined;
  }
  return { offset, expected: cut(one, offset), given: cut(other, offset) };
}

function cut(bytes: Uint8Array, offset: number): Cut {
  let start = offset;
  while (start > 0 && isContinued(bytes[start])) {
    start -= 1;
  }
  let end = start + 1;
  while (isContinued(bytes[end])) {
    end += 1;
  }
  const read = (from: number, to?: number): string => new TextDecoder().decode(bytes.subarray(from, to));
  return { before: read(0, start), at: read(start, end), after: read(end) };
}

/** Bytes after the first of a character begin with the bits 10. */
function isContinued(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
