// Reads lines `name={…}` in which the operator names programs, such as MCP servers. They may hold secrets, so messages never quote them.

import { parseObject } from "../base/json/parse-object.ts";

/** A program that serves over its standard input and output. */
export interface ProgramAddress {
  readonly kind: "program";
  readonly command: string;
  readonly args: readonly string[];
  /** The values are secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories that the program may read, besides those of the system. */
  readonly folders: readonly string[];
}

/** The fields of a line. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns what `read` makes of each line; undefined when a line is invalid or a name comes twice. */
export function readNamedLines<T extends { readonly name: string }>(
  text: string,
  read: (name: string, fields: Fields) => T | undefined,
): readonly T[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const found = lines.flatMap((line) => {
    const [, name = "", json = ""] = /^\s*([A-Za-z][A-Za-z0-9_-]{0,31})=(\{.*\})\s*$/.exec(line) ?? [];
    return read(name, parseObject(json) ?? {}) ?? [];
  });
  return new Set(found.map(({ name }) => name)).size === lines.length ? found : undefined;
}

/** Returns the program that fields describe; undefined when they describe none. */
export function readProgram({
  command,
  args = [],
  env = {},
  folders = [],
  ...others
}: Fields): ProgramAddress | undefined {
  const isRight =
    isText(command) &&
    isTexts(args) &&
    isTextMap(env) &&
    isTexts(folders) &&
    folders.every(isAbsolute) &&
    isEmpty(others);
  return isRight ? { kind: "program", command, args, environment: env, folders } : undefined;
}

/** Returns secret values and their words, such as a token after `Bearer`. */
export function secretWords(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => [value, ...value.split(" ")]);
}

/** Whether it is a text without NUL that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

/** Whether it is a list of texts. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\0"));
}

/** Whether it is an object of texts. */
export function isTextMap(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

/** Whether there are no fields. */
export function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}
