// Parses the opening tag of a command: a separate line.

import type { CommandType } from "../command.ts";
import { type Attributes, readAttributes } from "./attributes.ts";
import { isBlank } from "./lines.ts";

/** The name of a command. */
export type CommandName = Exclude<CommandType, "PARSE_ERROR">;

/** All names in the order of the document. */
export const commandNames: readonly CommandName[] = [
  "CREATE_FILE",
  "EDIT_FILE",
  "DELETE_FILE",
  "READ_FILE",
  "RUN_COMMAND",
  "MESSAGE",
  "DONE",
];

/** The opening tag of a command. */
export interface Tag {
  readonly name: CommandName;
  /** Empty for a command without attributes. */
  readonly attributes: Attributes;
}

/** Reads the tag [start, end), which begins with `[` and has no blanks around it. Returns undefined when it is not a tag. */
export function readTag(text: string, start: number, end: number): Tag | undefined {
  if (text.charCodeAt(end - 1) !== closingBracket) {
    return undefined;
  }
  const name = readName(text, start + 1);
  if (name === undefined) {
    return undefined;
  }
  const after = start + 1 + name.length;
  if (!takesAttributes(name)) {
    return after === end - 1 ? { name, attributes: {} } : undefined;
  }
  const code = text.charCodeAt(after);
  return code === closingBracket || isBlank(code)
    ? { name, attributes: readAttributes(text.slice(start, end)) }
    : undefined;
}

/** Returns whether a command has a body and a closing tag. */
export function hasBody(name: CommandName): boolean {
  return name !== "DELETE_FILE" && name !== "READ_FILE";
}

/** Returns the line that ends the body, such as `[/CREATE_FILE]`. */
export function closingTagOf({ name, attributes: { end } }: Tag): string {
  return mayChooseEnd(name) && end !== undefined && end !== "" ? `[/${name} ${end}]` : `[/${name}]`;
}

const closingBracket = 0x5d;

function takesAttributes(name: CommandName): boolean {
  return name.endsWith("_FILE");
}

function mayChooseEnd(name: CommandName): boolean {
  return name === "CREATE_FILE" || name === "EDIT_FILE";
}

function readName(text: string, at: number): CommandName | undefined {
  const code = text.charCodeAt(at);
  // Names begin with C to R. Most lines with a bracket have no such letter there.
  return code >= 0x43 && code <= 0x52 ? commandNames.find((name) => text.startsWith(name, at)) : undefined;
}
