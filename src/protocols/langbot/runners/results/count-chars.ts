// The length of a text as people and other languages count it.

/** Counts characters, not UTF-16 units: `"😀"` has one. */
export function countChars(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return count;
}
