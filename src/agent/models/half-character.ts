// Providers cut what they send anywhere, also between the halves of a surrogate pair, and half a character cannot be written.

export function splitHalfCharacter(text: string): [whole: string, rest: string] {
  const endsInHalf = /[\uD800-\uDBFF]$/.test(text);
  return endsInHalf ? [text.slice(0, -1), text.slice(-1)] : [text, ""];
}
