// Shortens a text to one line, for lists.

import { firstCharacters } from "./first-characters.ts";

/** Returns the first characters of a text, with one blank in place of each white space. */
export function oneLine(text: string, charsMax: number): string {
  return firstCharacters(text.trim().split(/\s+/).join(" "), charsMax).toWellFormed();
}
