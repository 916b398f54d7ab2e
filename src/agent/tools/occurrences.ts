// Counts and replaces a sequence of bytes in another. Bytes and not characters, so that what is not UTF-8 in a file stays as
// it is; a sequence that is UTF-8 is never found in the middle of a character.
//
// By the method of Knuth, Morris and Pratt, which looks at each byte about once. The search that Node has for buffers takes
// minutes for some pairs: 10 MiB of one letter, and 100 kB of it with another letter in the middle.

import { setImmediate as turn } from "node:timers/promises";

/** Occurrences do not overlap: after one, the search goes on behind it. */
export async function countOccurrences(content: Buffer, part: Buffer, signal: AbortSignal): Promise<number> {
  let count = 0;
  const increment = (): void => {
    count += 1;
  };
  await findOccurrences(content, part, increment, signal);
  return count;
}

/** `count` is how many there are, as counted before; all are replaced. */
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

/** A few milliseconds of searching, after which the event loop has its turn. */
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

/** For each start of `part`: the length of its longest proper start that is its end as well. */
function measureBorders(part: Buffer): Int32Array {
  const borders = new Int32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    matched = extend(part, borders, matched, part[at]);
    borders[at] = matched;
  }
  return borders;
}

/** How much of `part` the text ends with once `byte` is added, when it ended with `matched` of it before. */
function extend(part: Buffer, borders: Int32Array, matched: number, byte: number | undefined): number {
  let length = matched;
  while (length > 0 && part[length] !== byte) {
    length = borders[length - 1] ?? 0;
  }
  return part[length] === byte ? length + 1 : 0;
}
