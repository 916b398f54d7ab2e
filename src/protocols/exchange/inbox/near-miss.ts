// Reports lines that were probably meant as commands but are invalid, so that the next answer is better. Mail, chats and editors
// quote and escape lines and add invisible characters: a line is judged without these. It ignores prose in brackets, links, lists,
// code and closing tags.

import { trimBlanks } from "./lines.ts";
import { type CommandName, commandNames, hasBody, readTag } from "./tag.ts";

/**
 * Explains the line [start, end), which is not a tag and has no blanks around it. Returns undefined when it resembles no
 * command, and for a quoted line with `ignoresQuotes`.
 */
export function explainNearMiss(
  text: string,
  { start, end, ignoresQuotes }: { start: number; end: number; ignoresQuotes: boolean },
): string | undefined {
  if (!bracket.test(headOf(text, start, end))) {
    return undefined;
  }
  const written = text.slice(start, end);
  const plain = toPlain(written);
  const quote = findQuote(plain);
  const line = dropBold(trimBlanks(plain.slice(quote?.length)));
  const name = quote !== undefined && ignoresQuotes ? undefined : tagStart.exec(line.slice(0, headCharsMax))?.[1];
  if (name === undefined) {
    return undefined;
  }
  const known = knownNames.get(name.toUpperCase());
  const isMeant = (known === name && !link.test(line)) || looksLikeTag(line, name);
  if (known !== undefined) {
    const found = { isQuoted: quote !== undefined, odd: isTag(line) ? findOdd(written) : undefined };
    return isMeant ? explain(known, found) : undefined;
  }
  return isMeant && unknownName.test(name)
    ? `asks for ${name}, an unknown command: use ${commandNames.join(", ")}`
    : undefined;
}

/** Returns the section of an outbox that a quoted line begins, such as `PROMPT`; undefined for any other line. */
export function findQuotedSection(text: string, start: number, end: number): string | undefined {
  const head = toPlain(headOf(text, start, end));
  const quote = head.includes("===") ? findQuote(head) : undefined;
  return quote === undefined ? undefined : sectionLine.exec(trimBlanks(head.slice(quote.length)))?.[1];
}

const sectionLine = /^=== ([A-Z]+) ===$/;

/** The maximum length of what stands before a tag, with its name. No plausible line has more. */
const headCharsMax = 64;

function headOf(text: string, start: number, end: number): string {
  return text.slice(start, Math.min(end, start + headCharsMax));
}

/** An opening bracket in any writing. */
const bracket = /[[［【]|&(?:#0*91|#[xX]0*5[bB]|lbrack|lsqb);/;

const invisible = /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]--[\t-\r\u0085]]/gv;

/** Full-width characters, and escapes of HTML and of Markdown. */
const otherWriting =
  /[！-～【】]|&(?:#0*(?:91|93|62|160)|#[xX]0*(?:5[bBdD]|3[eE]|[aA]0)|lbrack|lsqb|rbrack|rsqb|gt|nbsp);|\\(?=[[\]_])/g;

/** False for nearly all lines: it saves them the searches. */
const mayDiffer = /[^\t-\r -~]|[&\\]/;

/** Writes a line with the characters that tags have. */
function toPlain(line: string): string {
  return mayDiffer.test(line) ? line.replace(invisible, "").replace(otherWriting, plainOf) : line;
}

function plainOf(found: string): string {
  const code = found.charCodeAt(0);
  const isWide = code >= 0xff01 && code <= 0xff5e;
  return isWide ? String.fromCharCode(code - 0xfee0) : (plainWritings[found.toLowerCase().replace(zeros, "")] ?? "");
}

/** Zeros that may begin the number of an escape. */
const zeros = /(?<=#x?)0+/;

const plainWritings: Readonly<Record<string, string>> = {
  ...{ "【": "[", "&#91;": "[", "&#x5b;": "[", "&lbrack;": "[", "&lsqb;": "[" },
  ...{ "】": "]", "&#93;": "]", "&#x5d;": "]", "&rbrack;": "]", "&rsqb;": "]" },
  ...{ "&#62;": ">", "&#x3e;": ">", "&gt;": ">" },
  ...{ "&#160;": " ", "&#xa0;": " ", "&nbsp;": " " },
};

/** Marks of a quote, which may stand in items of a list. */
const quoteMarks = /^(?:[\s\u0085>]|(?:[*+•-]|\d{1,9}[.)])\s)*>/;

/** Returns the marks before a quoted text; undefined when it is not quoted. */
function findQuote(line: string): string | undefined {
  return quoteMarks.exec(line.slice(0, headCharsMax))?.[0];
}

function dropBold(line: string): string {
  return line.startsWith("**") ? line.slice(2, line.endsWith("**") ? -2 : undefined) : line;
}

/** The shortest name is DONE. The maximum bounds the quoted name; no plausible one is longer. */
const tagStart = /^\[[\s\u0085]*([A-Za-z0-9_]{4,40})/;

const knownNames: ReadonlyMap<string, CommandName> = new Map(commandNames.map((name) => [name, name]));

/** An unknown name needs an underscore: prose in capital letters rarely has one. */
const unknownName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** A name as the text of a link in Markdown. */
const link = /^\[[A-Z_]+\]\(/;

/** Returns true for one pair of brackets at the end of the line, or for text with a closing tag after it. */
function looksLikeTag(line: string, name: string): boolean {
  const nameEnd = line.indexOf(name) + name.length;
  const after = line.slice(nameEnd, nameEnd + 1);
  if (!line.endsWith("]") || !(after === "]" || trimBlanks(after) === "")) {
    return false;
  }
  const closing = line.indexOf("]", nameEnd);
  return closing === line.length - 1 || line.slice(closing).includes("[/");
}

function isTag(line: string): boolean {
  return readTag(line, 0, line.length) !== undefined;
}

/** Returns what keeps a line from being a tag, such as `with "【"`; undefined for backslashes and bold, which are as visible. */
function findOdd(line: string): string | undefined {
  const [hidden] = line.match(invisible) ?? [];
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `with the invisible character U+${code}`;
  }
  const other = line.match(otherWriting)?.find((found) => found !== "\\" && plainOf(found) !== ">");
  return other === undefined ? undefined : `with "${other}"`;
}

function explain(name: CommandName, { isQuoted, odd }: { isQuoted: boolean; odd: string | undefined }): string {
  const found = [...(isQuoted ? ['behind the quote mark ">"'] : []), ...(odd === undefined ? [] : [odd])];
  const fix = isQuoted ? "remove the quote marks from all lines, and write" : "write";
  return `looks like ${[name, ...found].join(" ")} and was not executed: ${fix} ${formOf(name)}`;
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
