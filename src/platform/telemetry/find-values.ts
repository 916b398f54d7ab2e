// Finds any of many texts in a line, in one pass that reads a fraction of its characters: most lines contain none of the texts.
// It compares windows of eight characters from their ends. Two characters that occur in no text's first eight let the window
// jump past them. So the time grows with the line and hardly with the number of texts (the method of Wu and Manber).

/** The minimum length of a searched text: shorter texts occur in lines by chance. */
export const valueCharsMin = 8;

/** The place of a found text. */
export interface FoundValue {
  readonly start: number;
  readonly end: number;
}

/** Finds texts in a line. */
export interface ValueFinder {
  /** Returns the leftmost text at or after `from`, the longest of those that start there; otherwise undefined. */
  find(line: string, from: number): FoundValue | undefined;
}

/** Returns a finder of the texts. It ignores texts that are too short. */
export function createValueFinder(texts: Iterable<string>): ValueFinder {
  const byWindow = new Map<string, string[]>();
  const jumps = new Uint8Array(pairCount).fill(valueCharsMin - 1);
  for (const text of new Set(texts)) {
    if (text.length < valueCharsMin) {
      continue;
    }
    const window = text.slice(0, valueCharsMin);
    byWindow.set(
      window,
      [...(byWindow.get(window) ?? []), text].toSorted((a, b) => b.length - a.length),
    );
    for (let end = 2; end <= valueCharsMin; end++) {
      const pair = pairAt(window, end);
      jumps[pair] = Math.min(jumps[pair] ?? 0, valueCharsMin - end);
    }
  }
  return { find: (line, from) => (byWindow.size === 0 ? undefined : findFrom(line, from, jumps, byWindow)) };
}

function findFrom(
  line: string,
  from: number,
  jumps: Uint8Array,
  byWindow: ReadonlyMap<string, readonly string[]>,
): FoundValue | undefined {
  for (let end = from + valueCharsMin; end <= line.length; ) {
    const jump = jumps[pairAt(line, end)] ?? 0;
    if (jump > 0) {
      end += jump;
      continue;
    }
    const start = end - valueCharsMin;
    const text = byWindow.get(line.slice(start, end))?.find((each) => line.startsWith(each, start));
    if (text !== undefined) {
      return { start, end: start + text.length };
    }
    end++;
  }
  return undefined;
}

/** The number of pair hashes. Different pairs may share a hash: that costs a comparison, but never misses a text. */
const pairCount = 65_536;

/** Returns the hash of the two characters before `end`. */
function pairAt(text: string, end: number): number {
  return ((text.charCodeAt(end - 2) * 251) ^ text.charCodeAt(end - 1)) & (pairCount - 1);
}
