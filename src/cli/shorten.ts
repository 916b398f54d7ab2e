// Shortens texts for one line of the terminal. Every command loads this file, so it imports nothing of the contract.

import { joinLines } from "./terminal.ts";

/** Makes one line of a text, and cuts it after this many characters. */
export function shorten(text: string, charsMax = 160): string {
  const line = joinLines(text);
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}
