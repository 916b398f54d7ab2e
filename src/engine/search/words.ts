// The words of texts and of queries. Both are cut in the same way, so that the parts of paths, addresses and tags are words too.

/** What stands between words. */
const between = /[^\p{L}\p{N}\p{M}]+/gu;
/** As above, without the signs of a query: quotes around a phrase, and a minus before a word. */
const betweenAsked = /(?<=\S)-|[^\p{L}\p{N}\p{M}\s"-]+/gu;
/** Scripts that put no space between words: each character is one. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu;
/** One word of a text, or one character of such a script. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}])[\p{L}\p{N}\p{M}])+/gu;
const snippetChars = 240;
/** Characters of a snippet before the first word that was found. */
const leadChars = 80;

/** Returns the words of a text in lower case. Example: `See <b>docs/A.md</b>` gives `see b docs a md b`. */
export function wordsOfText(text: string): string {
  return text.toLowerCase().replace(unspaced, " $& ").replace(between, " ").trim();
}

/** Returns a query in the same words; empty for one without a word. Example: `"docs/A.md" -old` gives `"docs a md" -old`. */
export function wordsOfQuery(query: string): string {
  const asked = query.toLowerCase().replace(betweenAsked, " ").replace(unspaced, " $& ").trim();
  return /[\p{L}\p{N}]/u.test(asked) ? asked : "";
}

/** A piece of a snippet. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Returns the part of a text around the words of a query, which it marks. */
export function snippetOf(text: string, asked: string): Piece[] {
  const wanted = wantedWords(asked);
  const first = placesOf(text, wanted).next().value?.index ?? 0;
  const from = first > leadChars ? first - leadChars : 0;
  const cut = text.slice(from, from + snippetChars).toWellFormed();
  const pieces: Piece[] = from > 0 ? [{ text: "…", isMatch: false }] : [];
  let end = 0;
  for (const { 0: word, index } of placesOf(cut, wanted)) {
    pieces.push({ text: cut.slice(end, index), isMatch: false }, { text: word, isMatch: true });
    end = index + word.length;
  }
  const rest = cut.slice(end) + (from + snippetChars < text.length ? "…" : "");
  return [...pieces, { text: rest, isMatch: false }].filter((piece) => piece.text !== "");
}

/** Finds the words that a text must have, one after the other. */
function* placesOf(text: string, wanted: ReadonlySet<string>): Generator<RegExpExecArray, undefined> {
  for (const place of text.matchAll(word)) {
    if (wanted.has(place[0].toLowerCase())) {
      yield place;
    }
  }
  return undefined;
}

/** Returns the words of a query without those that it leaves out. */
function wantedWords(asked: string): ReadonlySet<string> {
  const kept = asked.replace(/(?<=^|\s)-("[^"]*"?|\S*)/gu, " ");
  return new Set(Array.from(kept.matchAll(word), ([each]) => each).filter((each) => each !== "or"));
}
