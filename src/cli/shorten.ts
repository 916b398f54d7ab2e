// Shortens texts for one line of the terminal. Every command loads this file, so it imports nothing of the contract.

import { joinLines } from "./terminal.ts";

const shownCharsMax = 160;

/** Makes one line of a text, and cuts it after 160 characters. */
export function shorten(text: string): string {
  return cut(text, shownCharsMax);
}

/** Makes one line of a text, and cuts it after this many characters. */
export function cut(text: string, charsMax: number): string {
  const line = joinLines(text);
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}
