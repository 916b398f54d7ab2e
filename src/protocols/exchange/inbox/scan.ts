// Scans the lines of an inbox, from block to block.
//
// W1  Text inside a block, even an invalid one, is never read as a tag.
// W2  A block without its closing tag ends the scan: the extent of its body is unknown.
// W3  Each character is read a fixed number of times, for any text. A missing closing tag is searched for once.

import type { Command } from "../command.ts";
import { dropBlanks, endOfLine, findLine, lineNumberAt, skipBlanks } from "./lines.ts";
import { makeCommand, parseError } from "./make-command.ts";
import { explainNearMiss, findQuotedSection } from "./near-miss.ts";
import { closingTagOf, commandNames, hasBody, readTag, type Tag } from "./tag.ts";

/** The outcome of a scan. */
export interface Scan {
  /** The blocks in order; invalid ones are errors. */
  readonly commands: Command[];
  /** The error of the first line that was probably meant as a command. */
  nearMiss: Command | undefined;
  /** True inside an outbox that mail or a chat has quoted. Its tags were not meant as commands. */
  isInQuotedOutbox: boolean;
  /** True when the last block has no closing tag. */
  isOpen: boolean;
  /** The number of commands that appeared in the order of the document. */
  inOrder: number;
  /** True when an EDIT_FILE has the letters N and M of the instructions for its lines. */
  hasPlaceholders: boolean;
}

/** Scans the blocks from `start`, where a line begins. */
export function scanBlocks(text: string, start = 0): Scan {
  const scan: Scan = {
    commands: [],
    nearMiss: undefined,
    isInQuotedOutbox: false,
    isOpen: false,
    inOrder: 0,
    hasPlaceholders: false,
  };
  let next: number;
  for (let at = start; at < text.length && !scan.isOpen; at = next) {
    const lineEnd = endOfLine(text, at);
    const first = skipBlanks(text, at, lineEnd);
    next = lineEnd + 1;
    if (first < lineEnd && mayBeginTag(text.charCodeAt(first))) {
      const last = dropBlanks(text, first, lineEnd);
      const tag = text.charCodeAt(first) === openingBracket ? readTag(text, first, last) : undefined;
      if (tag === undefined) {
        noteNearMiss(scan, text, first, last);
      } else {
        next = takeBlock(scan, text, tag, next);
      }
    }
  }
  return scan;
}

const openingBracket = 0x5b;

/** Returns false for a letter and for most other characters that begin a line of prose: none of them begins a near miss. */
function mayBeginTag(code: number): boolean {
  return code < 0x20 || code >= 0x7f || beginners.has(code);
}

/** A tag, and marks that Markdown, mail and HTML put before one. */
const beginners = new Set([..."[\\*>&+-0123456789"].map((character) => character.charCodeAt(0)));

function noteNearMiss(scan: Scan, text: string, start: number, end: number): void {
  if (scan.nearMiss !== undefined) {
    return;
  }
  const section = findQuotedSection(text, start, end);
  if (section !== undefined) {
    scan.isInQuotedOutbox = section !== "PROMPT";
  }
  const said = explainNearMiss(text, { start, end, ignoresQuotes: scan.isInQuotedOutbox });
  if (said !== undefined) {
    scan.nearMiss = parseError(`unrecognised: line ${lineNumberAt(text, start)} ${said}`);
  }
}

/** Takes a block. Returns the offset where the scan continues. */
function takeBlock(scan: Scan, text: string, tag: Tag, bodyStart: number): number {
  noteTag(scan, tag);
  if (!hasBody(tag.name)) {
    scan.commands.push(makeCommand(tag, ""));
    return bodyStart;
  }
  const closing = findLine(text, closingTagOf(tag), bodyStart);
  if (closing === undefined) {
    scan.commands.push(makeUnclosed(text, tag, bodyStart));
    scan.isOpen = true;
    return text.length;
  }
  // The newline before the closing tag does not belong to the body; a body without lines has no such newline.
  const body = text.slice(bodyStart, Math.max(bodyStart, closing.start - 1));
  scan.commands.push(makeCommand(tag, body));
  return closing.next;
}

function noteTag(scan: Scan, { name, attributes }: Tag): void {
  if (name === commandNames[scan.inOrder]) {
    scan.inOrder += 1;
  }
  if (name === "EDIT_FILE" && attributes.startLine === "N" && attributes.endLine === "M") {
    scan.hasPlaceholders = true;
  }
}

function makeUnclosed(text: string, tag: Tag, bodyStart: number): Command {
  const { name, attributes } = tag;
  const inner = makeCommand(tag, "");
  const detail = `nothing after this block was executed${explainClosing(text, tag, bodyStart)}`;
  if (inner.type === "PARSE_ERROR") {
    return parseError(inner.message, detail);
  }
  const whose = "path" in inner ? `${name} for '${attributes.path}'` : name;
  return parseError(`${whose} missing closing tag`, detail);
}

/** Explains the line that was probably meant as the closing tag. */
function explainClosing(text: string, tag: Tag, bodyStart: number): string {
  const at = text.indexOf(`[/${tag.name}`, bodyStart);
  return at === -1
    ? ""
    : `; line ${lineNumberAt(text, at)} does not end it: its closing tag is ${closingTagOf(tag)}, alone on a line`;
}
