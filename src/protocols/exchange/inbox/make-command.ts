// Converts a block to its command, or to a parse error that names the problem.

import type { Command, CommandOf } from "../command.ts";
import { type Attributes, parseInteger } from "./attributes.ts";
import { trimBlanks } from "./lines.ts";
import type { Tag } from "./tag.ts";

/** Makes the command of a block. `body` is the unchanged text between the tags; commands without a body ignore it. */
export function makeCommand({ name, attributes }: Tag, body: string): Command {
  const { path } = attributes;
  const missingPath = () => missing(`${name} missing path attribute`, attributes);
  switch (name) {
    case "CREATE_FILE":
      return path === undefined ? missingPath() : { type: name, path, content: dropReturns(body) };
    case "DELETE_FILE":
    case "READ_FILE":
      return path === undefined ? missingPath() : { type: name, path };
    case "EDIT_FILE":
      return makeEdit({ name, attributes }, body);
    case "RUN_COMMAND":
      return { type: name, command: trimBlanks(dropReturns(body)) };
    case "MESSAGE":
      return { type: name, text: trimBlanks(dropReturns(body)) };
    case "DONE":
      return { type: name, message: trimBlanks(dropReturns(body)) };
  }
}

/** Makes a parse error. */
export function parseError(message: string, detail?: string): CommandOf<"PARSE_ERROR"> {
  return detail === undefined ? { type: "PARSE_ERROR", message } : { type: "PARSE_ERROR", message, detail };
}

function makeEdit({ attributes }: Tag, body: string): Command {
  const { path, startLine, endLine } = attributes;
  if (path === undefined || startLine === undefined || endLine === undefined) {
    return missing("EDIT_FILE missing required attributes (path, start_line, end_line)", attributes);
  }
  const start = parseInteger(startLine);
  const end = parseInteger(endLine);
  if (start === undefined || end === undefined) {
    return parseError("EDIT_FILE start_line/end_line must be integers");
  }
  return { type: "EDIT_FILE", path, startLine: start, endLine: end, content: dropReturns(body) };
}

function missing(message: string, { isBadlyQuoted }: Attributes): Command {
  return parseError(
    message,
    isBadlyQuoted ? 'a value stands between straight double quotes, such as path="…"' : undefined,
  );
}

/**
 * Matches all carriage returns at the end of a line. The lookbehind keeps a long row of them from being tried at every
 * position.
 */
const returnsAtEnd = /(?<!\r)\r+(?=\n|$)/g;

function dropReturns(body: string): string {
  return body.includes("\r") ? body.replace(returnsAtEnd, "") : body;
}
