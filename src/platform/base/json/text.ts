// A JSON reader that remembers where each value stands in its text, so that raw JSON passes through as it was written:
// no number is rounded, no key is reordered. Pure; throws JsonTextError and nothing else.

/** A value and its place: `text.slice(start, end)` is exactly what was written. */
export type JsonNode =
  | (JsonPlace & { readonly kind: "object"; readonly members: readonly JsonMember[] })
  | (JsonPlace & { readonly kind: "array"; readonly items: readonly JsonNode[] })
  | (JsonPlace & { readonly kind: "string"; readonly value: string })
  | (JsonPlace & { readonly kind: "number" | "boolean" | "null" });

/** In the order of the text; a key that comes twice is there twice. */
export interface JsonMember {
  readonly key: Extract<JsonNode, { kind: "string" }>;
  readonly value: JsonNode;
}

interface JsonPlace {
  readonly start: number;
  readonly end: number;
}

/** The text is not JSON, or goes beyond a limit. The message is meant for the one who wrote it. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

export interface JsonTextOptions {
  /** Ignore whatever follows the first value. */
  readonly ignoreTrailing?: boolean;
  /** Levels of values inside each other, for a value that is to stand alone later; 100 unless told. */
  readonly depthMax?: number;
}

export function parseJsonText(text: string, options: JsonTextOptions = {}): JsonNode {
  const depthMax = options.depthMax ?? jsonDepthMax;
  const reader: Reader = { text, at: 0, valuesLeft: jsonValuesMax, depthMax };
  skipSpace(reader);
  if (reader.at === text.length) {
    // The words of the service whose clients this API serves; they match on them.
    throw new JsonTextError("EOF");
  }
  const node = readValue(reader, depthMax);
  skipSpace(reader);
  if (options.ignoreTrailing !== true && reader.at < text.length) {
    throw unexpected(reader, "after the value");
  }
  return node;
}

export interface CompactOptions {
  /** Put the keys of every object in order of their code units; twins stay in the order that they have. */
  readonly sortKeys?: boolean;
}

/** A value of the text without white space; strings and numbers stay as they were written. */
export function compactJson(text: string, node: JsonNode, options: CompactOptions = {}): string {
  switch (node.kind) {
    case "object": {
      const members = options.sortKeys === true ? node.members.toSorted(compareKeys) : node.members;
      const printed = members.map(({ key, value }) => {
        return `${compactJson(text, key)}:${compactJson(text, value, options)}`;
      });
      return `{${printed.join(",")}}`;
    }
    case "array":
      return `[${node.items.map((item) => compactJson(text, item, options)).join(",")}]`;
    case "string":
    case "number":
    case "boolean":
    case "null":
      return text.slice(node.start, node.end);
    default:
      return node satisfies never;
  }
}

function compareKeys({ key: a }: JsonMember, { key: b }: JsonMember): number {
  if (a.value === b.value) {
    return 0;
  }
  return a.value < b.value ? -1 : 1;
}

/** The depth at which Protobuf parsers stop too; the reader recurses, so it needs one that the stack never reaches. */
export const jsonDepthMax = 100;

/** About 20 MB of nodes. A body of 10 MiB could otherwise grow to half a gigabyte of them. */
const jsonValuesMax = 250_000;

interface Reader {
  readonly text: string;
  at: number;
  valuesLeft: number;
  readonly depthMax: number;
}

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const spacePattern = /[ \t\r\n]*/y;

function readValue(reader: Reader, depthLeft: number): JsonNode {
  reader.valuesLeft -= 1;
  if (reader.valuesLeft < 0) {
    throw new JsonTextError(`more than ${jsonValuesMax} values`);
  }
  if (depthLeft === 0) {
    throw new JsonTextError(`nested deeper than ${reader.depthMax} levels`);
  }
  switch (reader.text[reader.at]) {
    case "{":
      return readObject(reader, depthLeft);
    case "[":
      return readArray(reader, depthLeft);
    case '"':
      return readString(reader);
    case "t":
      return readWord(reader, "true", "boolean");
    case "f":
      return readWord(reader, "false", "boolean");
    case "n":
      return readWord(reader, "null", "null");
    default:
      return readNumber(reader);
  }
}

function readObject(reader: Reader, depthLeft: number): JsonNode {
  const start = reader.at;
  const members: JsonMember[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (!accept(reader, "}")) {
    do {
      skipSpace(reader);
      const key = readString(reader);
      skipSpace(reader);
      expect(reader, ":");
      skipSpace(reader);
      members.push({ key, value: readValue(reader, depthLeft - 1) });
      skipSpace(reader);
    } while (accept(reader, ","));
    expect(reader, "}");
  }
  return { kind: "object", members, start, end: reader.at };
}

function readArray(reader: Reader, depthLeft: number): JsonNode {
  const start = reader.at;
  const items: JsonNode[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (!accept(reader, "]")) {
    do {
      skipSpace(reader);
      items.push(readValue(reader, depthLeft - 1));
      skipSpace(reader);
    } while (accept(reader, ","));
    expect(reader, "]");
  }
  return { kind: "array", items, start, end: reader.at };
}

function readString(reader: Reader): Extract<JsonNode, { kind: "string" }> {
  const { text } = reader;
  const start = reader.at;
  expect(reader, '"');
  let escaped = false;
  for (;;) {
    const code = text.charCodeAt(reader.at);
    if (code === quote) {
      break;
    }
    if (!(code >= firstPrintable)) {
      throw unexpected(reader, "in a string");
    }
    if (code === backslash) {
      escaped = true;
      reader.at += 1;
    }
    reader.at += 1;
  }
  reader.at += 1;
  const value = escaped ? unescapeString(text.slice(start, reader.at), start) : text.slice(start + 1, reader.at - 1);
  return { kind: "string", value, start, end: reader.at };
}

function unescapeString(literal: string, start: number): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new JsonTextError(`invalid escape in the string at offset ${start}`);
  }
}

function readNumber(reader: Reader): JsonNode {
  const start = reader.at;
  numberPattern.lastIndex = start;
  const found = numberPattern.exec(reader.text)?.[0];
  if (found === undefined) {
    throw unexpected(reader, "where a value should begin");
  }
  reader.at += found.length;
  return { kind: "number", start, end: reader.at };
}

function readWord(reader: Reader, word: string, kind: "boolean" | "null"): JsonNode {
  const start = reader.at;
  expect(reader, word);
  return { kind, start, end: reader.at };
}

function skipSpace(reader: Reader): void {
  spacePattern.lastIndex = reader.at;
  reader.at += spacePattern.exec(reader.text)?.[0].length ?? 0;
}

function accept(reader: Reader, token: string): boolean {
  if (!reader.text.startsWith(token, reader.at)) {
    return false;
  }
  reader.at += token.length;
  return true;
}

function expect(reader: Reader, token: string): void {
  if (!accept(reader, token)) {
    throw unexpected(reader, `instead of ${token}`);
  }
}

function unexpected(reader: Reader, where: string): JsonTextError {
  const codePoint = reader.text.codePointAt(reader.at);
  if (codePoint === undefined) {
    return new JsonTextError("unexpected EOF");
  }
  const character = JSON.stringify(String.fromCodePoint(codePoint));
  return new JsonTextError(`unexpected character ${character} ${where} at offset ${reader.at}`);
}
