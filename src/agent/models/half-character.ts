// Providers may cut text between the halves of a surrogate pair, and half a character cannot be written.

/** Splits off a high surrogate at the end of the text. `rest` is empty when there is no such half. */
export function splitHalfCharacter(text: string): [whole: string, rest: string] {
  const endsInHalf = /[\uD800-\uDBFF]$/.test(text);
  return endsInHalf ? [text.slice(0, -1), text.slice(-1)] : [text, ""];
}
