// Reports lines that were probably meant as commands but are invalid, so that the next answer is better. It ignores prose in
// brackets, links, lists, quotes and closing tags.

import { isBlank, skipBlanks } from "./lines.ts";
import { type CommandName, commandNames, hasBody } from "./tag.ts";

/**
 * Explains the line [start, end), which is not a tag and has no blanks around it. Returns undefined when it resembles no
 * command.
 */
export function explainNearMiss(text: string, start: number, end: number): string | undefined {
  const isBold = text.startsWith("**", start);
  const bracket = skipBackslash(text, isBold ? start + 2 : start);
  if (text.charCodeAt(bracket) !== openingBracket) {
    return undefined;
  }
  const nameStart = skipBlanks(text, bracket + 1, end);
  const nameEnd = skipName(text, nameStart, Math.min(end, nameStart + nameCharsMax));
  if (nameEnd - nameStart < nameCharsMin) {
    return undefined;
  }
  const name = readName(text, nameStart, nameEnd);
  const known = knownNames.get(name.toUpperCase());
  const isMeant = known === name || looksLikeTag(text, nameEnd, isBold ? end - 2 : end);
  if (known !== undefined) {
    return isMeant ? `looks like ${known} and was not executed: write ${formOf(known)}` : undefined;
  }
  return isMeant && unknownName.test(name)
    ? `asks for ${name}, an unknown command: use ${commandNames.join(", ")}`
    : undefined;
}

const knownNames: ReadonlyMap<string, CommandName> = new Map(commandNames.map((name) => [name, name]));

/** The length of the shortest name, DONE. */
const nameCharsMin = 4;
/** The maximum length of a name, which also bounds the quoted text. No plausible name is longer. */
const nameCharsMax = 40;
/** An unknown name needs an underscore: prose in capital letters rarely has one. */
const unknownName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

const openingBracket = 0x5b;
const closingBracket = 0x5d;
const backslash = 0x5c;

function skipBackslash(text: string, at: number): number {
  return text.charCodeAt(at) === backslash ? at + 1 : at;
}

/** Skips a name. Markdown has a backslash before the underscores of a name. */
function skipName(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isNameCharacter(text.charCodeAt(skipBackslash(text, at)))) {
    at = skipBackslash(text, at) + 1;
  }
  return Math.min(at, end);
}

function isNameCharacter(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function readName(text: string, start: number, end: number): string {
  const name = text.slice(start, end);
  return name.includes("\\") ? name.replaceAll("\\", "") : name;
}

/** Returns true for one pair of brackets at the end of the line, or for text with a closing tag after it. */
function looksLikeTag(text: string, nameEnd: number, end: number): boolean {
  const after = text.charCodeAt(skipBackslash(text, nameEnd));
  if (text.charCodeAt(end - 1) !== closingBracket || !(after === closingBracket || isBlank(after))) {
    return false;
  }
  const bracket = text.indexOf("]", nameEnd);
  return bracket === end - 1 || text.slice(bracket, end).includes("[/");
}

function formOf(name: CommandName): string {
  const attributes = attributesOf[name] ?? "";
  const opening = `[${name}${attributes}] alone on one line`;
  return hasBody(name) ? `${opening}, and [/${name}] alone on a later one` : opening;
}

const attributesOf: Partial<Record<CommandName, string>> = {
  CREATE_FILE: ' path="…"',
  EDIT_FILE: ' path="…" start_line="…" end_line="…"',
  DELETE_FILE: ' path="…"',
  READ_FILE: ' path="…"',
};
