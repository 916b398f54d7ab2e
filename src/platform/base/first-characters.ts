// Cuts a text to its first code points, and counts them.

/** Returns the first characters of a text, without splitting a surrogate pair. */
export function firstCharacters(text: string, max: number): string {
  // A character has at most two UTF-16 units.
  return text.length <= max
    ? text
    : Array.from(text.slice(0, 2 * max))
        .slice(0, max)
        .join("");
}

/** Returns the number of characters of a text. */
export function countCharacters(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  return text.length - (pairs?.length ?? 0);
}
