// The walk over the lines of an inbox, from block to block.
//
// W1  What stands in a block, a wrong one too, is never looked at as a tag.
// W2  A block without its closing tag ends the walk: nobody knows what of the rest was meant to be inside.
// W3  Each character is looked at a fixed number of times, whatever the text. A missing closing tag is searched for once.

import type { Command } from "../command.ts";
import { dropBlanks, endOfLine, findLine, lineNumberAt, skipBlanks } from "./lines.ts";
import { makeCommand, parseError } from "./make-command.ts";
import { explainNearMiss } from "./near-miss.ts";
import { closingTagOf, commandNames, hasBody, readTag, type Tag } from "./tag.ts";

export interface Scan {
  /** The blocks in order, those that are wrong as errors. */
  readonly commands: Command[];
  /** About the first line that is no command and was probably meant to be one. */
  nearMiss: Command | undefined;
  /** The last block has no closing tag. */
  isOpen: boolean;
  /** How many of all the commands were seen in the order of the document. */
  inOrder: number;
  /** An EDIT_FILE has the letters for its lines that it has in the instructions. */
  hasPlaceholders: boolean;
}

/** From `start`, where a line begins. */
export function scanBlocks(text: string, start = 0): Scan {
  const scan: Scan = { commands: [], nearMiss: undefined, isOpen: false, inOrder: 0, hasPlaceholders: false };
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
const backslash = 0x5c;
const asterisk = 0x2a;

/** The last two for tags that somebody wrote as Markdown. */
function mayBeginTag(code: number): boolean {
  return code === openingBracket || code === backslash || code === asterisk;
}

function noteNearMiss(scan: Scan, text: string, start: number, end: number): void {
  if (scan.nearMiss === undefined) {
    const said = explainNearMiss(text, start, end);
    if (said !== undefined) {
      scan.nearMiss = parseError(`unrecognised: line ${lineNumberAt(text, start)} ${said}`);
    }
  }
}

/** Gives where the walk goes on. */
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
  // The newline before the closing tag is no part of the body; without a line there is not even that.
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

/** What was probably meant to be the closing tag. */
function explainClosing(text: string, tag: Tag, bodyStart: number): string {
  const at = text.indexOf(`[/${tag.name}`, bodyStart);
  return at === -1
    ? ""
    : `; line ${lineNumberAt(text, at)} does not end it: its closing tag is ${closingTagOf(tag)}, alone on a line`;
}
