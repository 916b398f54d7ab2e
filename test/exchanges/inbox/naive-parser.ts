// The rules of parsing an inbox, as short as possible and therefore slow; the tests compare the parser with it. It ignores near
// misses and the details of errors.

import type { Command } from "../../../src/protocols/exchange/command.ts";

const white = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

export function parseNaively(text: string): Command[] {
  return parseLines(text.split("\n"), false);
}

/** As in the original parser: U+FEFF and U+180E are not white space, U+0085 is. */
export function trim(text: string): string {
  return text.replace(new RegExp(`^[${white}]+`), "").replace(new RegExp(`[${white}]+$`), "");
}

/** `isRest`: the lines follow the prompt of an outbox that came back. */
function parseLines(lines: readonly string[], isRest: boolean): Command[] {
  const trimmed = lines.map(trim);
  const protocol = trimmed.indexOf("=== PROTOCOL ===");
  if (protocol !== -1) {
    const prompt = trimmed.indexOf("=== PROMPT ===", protocol + 1);
    const isInBlock = readBlocks(lines.slice(0, protocol)).isOpen;
    return prompt === -1 || isInBlock ? [echo] : parseLines(lines.slice(prompt + 1), true);
  }
  const { commands, tags } = readBlocks(lines);
  const hasCommand = commands.some(({ type }) => type !== "PARSE_ERROR");
  if ((isRest && (trimmed.includes("=== PROMPT ===") || !hasCommand)) || repeatsInstructions(tags)) {
    return [echo];
  }
  return commands;
}

const echo = parseError("inbox repeats the protocol instructions; nothing was executed");

const names = ["CREATE_FILE", "EDIT_FILE", "DELETE_FILE", "READ_FILE", "RUN_COMMAND", "MESSAGE", "DONE"] as const;

interface Tag {
  readonly name: (typeof names)[number];
  readonly attributes: ReadonlyMap<string, string>;
}

function repeatsInstructions(tags: readonly Tag[]): boolean {
  const order = names.join(".*,");
  const isInOrder = new RegExp(`${order}`, "s").test(tags.map(({ name }) => name).join(","));
  const hasLetters = tags.some(
    ({ name, attributes }) =>
      name === "EDIT_FILE" && attributes.get("start_line") === "N" && attributes.get("end_line") === "M",
  );
  return isInOrder && hasLetters;
}

function readBlocks(lines: readonly string[]): { commands: Command[]; tags: Tag[]; isOpen: boolean } {
  const commands: Command[] = [];
  const tags: Tag[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const tag = readTag(trim(lines[index] ?? ""));
    if (tag === undefined) {
      continue;
    }
    tags.push(tag);
    const { name, attributes } = tag;
    const fault = findFault(tag);
    if (name === "READ_FILE" || name === "DELETE_FILE") {
      commands.push(fault ?? { type: name, path: attributes.get("path") ?? "" });
      continue;
    }
    const closing = findClosing(lines, index + 1, tag);
    if (closing === -1) {
      const whose = name.endsWith("_FILE") ? `${name} for '${attributes.get("path")}'` : name;
      commands.push(fault ?? parseError(`${whose} missing closing tag`));
      return { commands, tags, isOpen: true };
    }
    const body = lines.slice(index + 1, closing).map((line) => line.replace(/\r+$/, ""));
    commands.push(fault ?? makeCommand(tag, body.join("\n")));
    index = closing;
  }
  return { commands, tags, isOpen: false };
}

function readTag(line: string): Tag | undefined {
  for (const name of names) {
    if (name === "RUN_COMMAND" || name === "MESSAGE" || name === "DONE") {
      if (line === `[${name}]`) {
        return { name, attributes: new Map() };
      }
    } else if (new RegExp(`^\\[${name}[${white}\\]]`).test(line) && line.endsWith("]")) {
      return { name, attributes: readAttributes(line) };
    }
  }
  return undefined;
}

function readAttributes(line: string): ReadonlyMap<string, string> {
  const attribute = new RegExp(`([\\p{L}\\p{Mn}\\p{Nd}\\p{Pc}]+)[${white}]*=[${white}]*"([^"]*)"`, "gu");
  return new Map(Array.from(line.matchAll(attribute), ([, name = "", value = ""]) => [name.toLowerCase(), value]));
}

function findClosing(lines: readonly string[], start: number, { name, attributes }: Tag): number {
  const end = name === "CREATE_FILE" || name === "EDIT_FILE" ? attributes.get("end") : undefined;
  const closing = end ? `[/${name} ${end}]` : `[/${name}]`;
  return lines.findIndex((line, index) => index >= start && trim(line) === closing);
}

function findFault({ name, attributes }: Tag): Command | undefined {
  if (name === "EDIT_FILE") {
    const lineNumbers = [attributes.get("start_line"), attributes.get("end_line")];
    if (!attributes.has("path") || lineNumbers.includes(undefined)) {
      return parseError("EDIT_FILE missing required attributes (path, start_line, end_line)");
    }
    return lineNumbers.every((value) => isInteger(value ?? ""))
      ? undefined
      : parseError("EDIT_FILE start_line/end_line must be integers");
  }
  return name.endsWith("_FILE") && !attributes.has("path") ? parseError(`${name} missing path attribute`) : undefined;
}

function isInteger(value: string): boolean {
  const digits = /^[\t-\r ]*([+-]?[0-9]+)[\t-\r ]*$/.exec(value)?.[1];
  return digits !== undefined && BigInt.asIntN(32, toBigInt(digits)) === toBigInt(digits);
}

function toBigInt(digits: string): bigint {
  return digits.startsWith("-") ? -BigInt(digits.slice(1)) : BigInt(digits.replace("+", ""));
}

function makeCommand({ name, attributes }: Tag, body: string): Command {
  const path = attributes.get("path") ?? "";
  switch (name) {
    case "CREATE_FILE":
      return { type: name, path, content: body };
    case "EDIT_FILE": {
      const [startLine = 0, endLine = 0] = ["start_line", "end_line"].map((each) =>
        Number(toBigInt(trim(attributes.get(each) ?? ""))),
      );
      return { type: name, path, startLine, endLine, content: body };
    }
    case "RUN_COMMAND":
      return { type: name, command: trim(body) };
    case "MESSAGE":
      return { type: name, text: trim(body) };
    case "DONE":
      return { type: name, message: trim(body) };
    default:
      throw new Error(`${name} has no body`);
  }
}

function parseError(message: string): Command {
  return { type: "PARSE_ERROR", message };
}
