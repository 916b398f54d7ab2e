// Search in memories: the words of a query, and what a caller sees of an entry that has them.

import type { Db } from "../../platform/database/database.ts";
import { type StateEntry, searchStateValues } from "../storage/state-value.ts";

const wordsMax = 8;
const queryCharsMax = 256;
const excerptCharsMax = 300;
/** Characters of an excerpt before the word that was found. */
const leadChars = 100;

/** An entry that was found. */
export interface MemoryMatch {
  readonly entry: StateEntry;
  readonly excerpt: string;
}

/** Returns the words of a query, or its problem, to be put behind its name in a message. */
export function readQuery(query: string): readonly string[] | { readonly problem: string } {
  if (query.length > queryCharsMax) {
    return { problem: `has ${query.length} characters: maximum ${queryCharsMax}` };
  }
  if (!query.isWellFormed() || query.includes("\0")) {
    return { problem: "contains U+0000 or half of a surrogate pair: remove it" };
  }
  const words = [...new Set(query.split(/\s+/).filter((word) => word !== ""))];
  return words.length === 0 || words.length > wordsMax
    ? { problem: `must have 1 to ${wordsMax} words, separated by spaces` }
    : words;
}

/** Returns the entries that have all words, the newest first. */
export async function searchMemory(
  db: Db,
  args: { owner: Uint8Array; words: readonly string[]; limit: number },
): Promise<MemoryMatch[]> {
  const found = await searchStateValues(db, args);
  return found.map(({ value, ...entry }) => ({ entry, excerpt: excerptOf(textOfValue(value), args.words) }));
}

/** Returns a value as a reader sees it: a JSON string as its text, any other value as JSON. */
export function textOfValue(value: string): string {
  return value.startsWith('"') ? JSON.parse(value) : value;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word.toLowerCase())).filter((place) => place !== -1);
  const start = Math.max(0, Math.min(...places, Number.MAX_SAFE_INTEGER) - leadChars);
  const from = places.length === 0 ? 0 : start;
  const cut = text.slice(from, from + excerptCharsMax).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + excerptCharsMax < text.length ? "…" : ""}`;
}
