// Reads the MCP servers that the operator names: `name={"command": "node", "args": ["server.js"]}` or `name={"url": "https://…"}`, one a
// line. They may hold secrets, so messages never quote them.

import { parseObject } from "../base/json/parse-object.ts";

/** A server over HTTP. */
export interface HttpAddress {
  readonly kind: "http" | "sse";
  readonly url: string;
  /** Names in lower case. The values are secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A program that speaks MCP over its standard input and output. */
export interface ProgramAddress {
  readonly kind: "program";
  readonly command: string;
  readonly args: readonly string[];
  /** The values are secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories that the program may read, besides those of the system. */
  readonly folders: readonly string[];
}

/** Where a server is. */
export type McpAddress = HttpAddress | ProgramAddress;

/** A server of the settings. */
export interface McpServerSetting {
  readonly name: string;
  readonly address: McpAddress;
  /** The clients whose agents may name it; undefined means all. */
  readonly clients: readonly string[] | undefined;
  /** The values that no text may show. */
  readonly secrets: readonly string[];
}

/** Returns the servers; undefined when a line is invalid. */
export function readMcpServers(text: string): readonly McpServerSetting[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const servers = lines.flatMap((line) => readServer(line) ?? []);
  const names = new Set(servers.map(({ name }) => name));
  return names.size === lines.length ? servers : undefined;
}

function readServer(line: string): McpServerSetting | undefined {
  const [, name = "", json = ""] = /^\s*([A-Za-z][A-Za-z0-9_-]{0,31})=(\{.*\})\s*$/.exec(line) ?? [];
  const { clients, ...fields } = parseObject(json) ?? {};
  const address = "command" in fields ? readProgram(fields) : readHttp(fields);
  if (address === undefined || !(clients === undefined || isTexts(clients))) {
    return undefined;
  }
  return { name, address, clients, secrets: secretsOfAddress(address) };
}

function readProgram({ command, args = [], env = {}, folders = [], ...others }: Fields): ProgramAddress | undefined {
  const isRight =
    isText(command) &&
    isTexts(args) &&
    isTextMap(env) &&
    isTexts(folders) &&
    folders.every(isAbsolute) &&
    isEmpty(others);
  return isRight ? { kind: "program", command, args, environment: env, folders } : undefined;
}

function readHttp({ url, transport = "http", headers = {}, ...others }: Fields): HttpAddress | undefined {
  const isKnown = transport === "http" || transport === "sse";
  if (!isText(url) || !URL.canParse(url) || !isKnown || !isTextMap(headers) || !isEmpty(others)) {
    return undefined;
  }
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { kind: transport, url, headers: Object.fromEntries(named) };
}

/** Returns what no text may show: the values of headers and of the environment, and their words, such as a token after `Bearer`. */
export function secretsOfAddress(address: McpAddress): readonly string[] {
  const values = Object.values(address.kind === "program" ? address.environment : address.headers);
  return values.flatMap((value) => [value, ...value.split(" ")]);
}

type Fields = Readonly<Record<string, unknown>>;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\0"));
}

function isTextMap(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}
