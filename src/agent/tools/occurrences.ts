// Counts and replaces a byte sequence in a file. It works on bytes, so that bytes that are not UTF-8 stay unchanged. A UTF-8
// sequence never matches in the middle of a character.
//
// The algorithm is Knuth-Morris-Pratt, which reads each byte about once. Node's own buffer search takes minutes for some input:
// 10 MiB of one letter, and 100 kB of it with another letter in the middle.

import { setImmediate as turn } from "node:timers/promises";

/** Counts the occurrences. They do not overlap: the search continues after each match. */
export async function countOccurrences(content: Buffer, part: Buffer, signal: AbortSignal): Promise<number> {
  let count = 0;
  const increment = (): void => {
    count += 1;
  };
  await findOccurrences(content, part, increment, signal);
  return count;
}

/** Replaces all occurrences. `count` must be their number, as `countOccurrences` returned it. */
export async function replaceOccurrences(
  content: Buffer,
  { part, replacement, count }: { part: Buffer; replacement: Buffer; count: number },
  signal: AbortSignal,
): Promise<Buffer> {
  const result = Buffer.allocUnsafe(content.length + count * (replacement.length - part.length));
  let from = 0;
  let written = 0;
  const replace = (at: number): void => {
    written += content.copy(result, written, from, at);
    written += replacement.copy(result, written);
    from = at + part.length;
  };
  await findOccurrences(content, part, replace, signal);
  content.copy(result, written, from);
  return result;
}

/** The bytes to search before the event loop gets a turn: a few milliseconds. */
const stretchBytes = 524_288;

async function findOccurrences(
  content: Buffer,
  part: Buffer,
  onFound: (at: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (part.length > content.length) {
    return;
  }
  const borders = measureBorders(part);
  let matched = 0;
  for (let from = 0; from < content.length; from += stretchBytes) {
    if (from > 0) {
      await turn();
      signal.throwIfAborted();
    }
    const to = Math.min(from + stretchBytes, content.length);
    for (let at = from; at < to; at += 1) {
      matched = extend(part, borders, matched, content[at]);
      if (matched === part.length) {
        onFound(at + 1 - matched);
        matched = 0;
      }
    }
  }
}

/** Returns for each prefix of `part` the length of its longest proper prefix that is also its suffix. */
function measureBorders(part: Buffer): Int32Array {
  const borders = new Int32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    matched = extend(part, borders, matched, part[at]);
    borders[at] = matched;
  }
  return borders;
}

/** Returns how many bytes of `part` match at the end of the text after `byte`, when `matched` bytes matched before it. */
function extend(part: Buffer, borders: Int32Array, matched: number, byte: number | undefined): number {
  let length = matched;
  while (length > 0 && part[length] !== byte) {
    length = borders[length - 1] ?? 0;
  }
  return part[length] === byte ? length + 1 : 0;
}
