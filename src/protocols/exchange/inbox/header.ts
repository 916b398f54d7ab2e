// Parses the optional header of a text: the exchange and the outbox that it belongs to. Prose never counts as a header.

import { isInBlock } from "./answer.ts";
import { dropBlanks, endOfLine, findLine, skipBlanks } from "./lines.ts";

/** The header of a text; missing lines are undefined. */
export interface InboxHeader {
  readonly session?: string;
  readonly sequence?: number;
}

/** Reads the section HEADER; without one, reads the lines at the start of the text. */
export function readHeader(text: string): InboxHeader {
  const section = findLine(text, "=== HEADER ===", 0);
  return section === undefined || isInBlock(text, 0, section.start)
    ? readOpening(text)
    : readSection(text, section.next);
}

type Field = { readonly session: string } | { readonly sequence: number };

function readSection(text: string, start: number): InboxHeader {
  let header: InboxHeader = {};
  for (const line of readLines(text, start)) {
    if (isSectionLine(line)) {
      break;
    }
    const field = readField(line);
    if (field !== undefined) {
      // The first duplicate counts.
      header = { ...field, ...header };
    }
  }
  return header;
}

function readOpening(text: string): InboxHeader {
  let header: InboxHeader = {};
  for (const line of readLines(text, 0)) {
    const field = readField(line);
    if (field === undefined || Object.keys(field).some((name) => name in header)) {
      break;
    }
    header = { ...header, ...field };
  }
  return header;
}

/** Yields the lines that are not blank, without the blanks around them. */
function* readLines(text: string, start: number): Generator<string> {
  for (let at = start; at < text.length; ) {
    const lineEnd = endOfLine(text, at);
    const first = skipBlanks(text, at, lineEnd);
    const last = dropBlanks(text, first, lineEnd);
    if (first < last) {
      yield text.slice(first, last);
    }
    at = lineEnd + 1;
  }
}

function isSectionLine(line: string): boolean {
  return line.startsWith("=== ") && line.endsWith(" ===");
}

const sessionLine = /^Session:[ \t]*([0-9a-fA-F]{8})$/;
/** No more digits than a number holds exactly. */
const sequenceLine = /^Sequence:[ \t]*([0-9]{1,15})$/;

function readField(line: string): Field | undefined {
  if (!line.startsWith("Se")) {
    return undefined;
  }
  const session = sessionLine.exec(line)?.[1];
  if (session !== undefined) {
    return { session: session.toLowerCase() };
  }
  const sequence = sequenceLine.exec(line)?.[1];
  return sequence === undefined ? undefined : { sequence: Number(sequence) };
}
