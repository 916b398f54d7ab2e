// Cuts a text to its first code points.

/** Returns the first characters of a text, without splitting a surrogate pair. */
export function firstCharacters(text: string, max: number): string {
  // A character has at most two UTF-16 units.
  return text.length <= max
    ? text
    : Array.from(text.slice(0, 2 * max))
        .slice(0, max)
        .join("");
}
