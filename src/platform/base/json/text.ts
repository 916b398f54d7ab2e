// A JSON parser that remembers the place of each value, so that raw JSON passes through as written. It rounds no number and
// reorders no key. Pure; throws JsonTextError only.

/** A value and its place: `text.slice(start, end)` is exactly the written text. */
export type JsonNode =
  | (JsonPlace & { readonly kind: "object"; readonly members: readonly JsonMember[] })
  | (JsonPlace & { readonly kind: "array"; readonly items: readonly JsonNode[] })
  | (JsonPlace & { readonly kind: "string"; readonly value: string })
  | (JsonPlace & { readonly kind: "number" | "boolean" | "null" });

/** A member of an object, in text order. Duplicate keys give several members. */
export interface JsonMember {
  readonly key: Extract<JsonNode, { kind: "string" }>;
  readonly value: JsonNode;
}

interface JsonPlace {
  readonly start: number;
  readonly end: number;
}

/** The text is not JSON, or exceeds a limit. The message is for the author of the text. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

/** Returns the error of a text that is nested deeper than `depthMax`. */
export function tooDeep(depthMax: number): JsonTextError {
  return new JsonTextError(`nested deeper than ${depthMax} levels`);
}

/** Returns the error of a text with more values than `valuesMax`. */
export function tooManyValues(valuesMax: number): JsonTextError {
  return new JsonTextError(`more than ${valuesMax} values`);
}

/** Limits of the parser. */
export interface JsonTextOptions {
  /** Ignores all text after the first value. */
  readonly ignoreTrailing?: boolean;
  /** Maximum levels of objects and arrays inside each other; 100 when unset. */
  readonly depthMax?: number;
  /** Maximum number of values; 250,000 when unset. */
  readonly valuesMax?: number;
}

/** Reads one JSON value. Throws `JsonTextError`, which names the line and column. */
export function parseJsonText(text: string, options: JsonTextOptions = {}): JsonNode {
  return new Reader(text, options).read();
}

/** Reads one JSON value. Returns undefined for a text that `parseJsonText` refuses. */
export function findJson(text: string): JsonNode | undefined {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof JsonTextError) {
      return undefined;
    }
    throw error;
  }
}

/** Returns the error of a text that is invalid at `offset`: `unexpected character "]", at line 2, column 7`. */
export function jsonTextError(text: string, offset: number, problem: string): JsonTextError {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n");
  return new JsonTextError(`${problem}, at line ${line}, column ${column}`);
}

/** Options of the compact form. */
export interface CompactOptions {
  /** Sorts the keys of every object by code units. Duplicate keys keep their order. */
  readonly sortKeys?: boolean;
}

/** Returns a value of the text without white space. Strings and numbers stay as written. */
export function compactJson(text: string, node: JsonNode, options: CompactOptions = {}): string {
  switch (node.kind) {
    case "object": {
      const members = options.sortKeys === true ? node.members.toSorted(compareKeys) : node.members;
      const printed = members.map(({ key, value }) => {
        return `${compactJson(text, key)}:${compactJson(text, value, options)}`;
      });
      return `{${joinPrinted(printed)}}`;
    }
    case "array":
      return `[${joinPrinted(node.items.map((item) => compactJson(text, item, options)))}]`;
    case "string":
    case "number":
    case "boolean":
    case "null":
      return text.slice(node.start, node.end);
    default:
      return node satisfies never;
  }
}

/** Joins printed values by commas. Unlike `join` it copies nothing: a deep value would be copied once for each level. */
export function joinPrinted(values: readonly string[]): string {
  let joined = values[0] ?? "";
  for (let at = 1; at < values.length; at += 1) {
    joined += `,${values[at]}`;
  }
  return joined;
}

function compareKeys({ key: a }: JsonMember, { key: b }: JsonMember): number {
  if (a.value === b.value) {
    return 0;
  }
  return a.value < b.value ? -1 : 1;
}

/** The maximum nesting. Protobuf parsers stop at this depth too; the parser recurses, so the limit protects its stack. */
export const jsonDepthMax = 100;

/**
 * The maximum number of values; a member of an object is one. They take about 20 MB as nodes. A body of 10 MiB could otherwise
 * become half a gigabyte.
 */
export const jsonValuesMax = 250_000;

const unit = {
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const spacePattern = /[ \t\r\n]*/y;
/** Matches a character that must be escaped in a string. */
const control = /[^ -\uffff]/;
const stringPart = /[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

class Reader {
  readonly #text: string;
  readonly #ignoresTrailing: boolean;
  readonly #depthMax: number;
  readonly #valuesMax: number;
  /** False when no string of the text contains a control character. White space between the values may set it to true. */
  readonly #hasControls: boolean;
  #at = 0;
  #values = 0;
  /** The offset of the first backslash and of the first quote after the last searched place. */
  #backslash = -1;
  #quote = -1;

  constructor(text: string, options: JsonTextOptions) {
    const { ignoreTrailing = false, depthMax = jsonDepthMax, valuesMax = jsonValuesMax } = options;
    this.#text = text;
    this.#ignoresTrailing = ignoreTrailing;
    this.#depthMax = depthMax;
    this.#valuesMax = valuesMax;
    this.#hasControls = control.test(text);
  }

  read(): JsonNode {
    this.#skipSpace();
    if (this.#at === this.#text.length) {
      // The wording of the service whose clients this API serves; those clients match on it.
      throw new JsonTextError("EOF");
    }
    const node = this.#readValue(1);
    this.#skipSpace();
    if (!this.#ignoresTrailing && this.#at < this.#text.length) {
      throw this.#unexpected("after the value");
    }
    return node;
  }

  #readValue(depth: number): JsonNode {
    this.#values += 1;
    if (this.#values > this.#valuesMax) {
      throw tooManyValues(this.#valuesMax);
    }
    switch (this.#text.charCodeAt(this.#at)) {
      case unit.openBrace:
        return this.#readObject(depth);
      case unit.openBracket:
        return this.#readArray(depth);
      case unit.quote:
        return this.#readString();
      case unit.t:
        return this.#readWord("true", "boolean");
      case unit.f:
        return this.#readWord("false", "boolean");
      case unit.n:
        return this.#readWord("null", "null");
      default:
        return this.#readNumber();
    }
  }

  #readObject(depth: number): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    if (!this.#opensEmpty(depth, unit.closeBrace)) {
      do {
        if (this.#text.charCodeAt(this.#at) !== unit.quote) {
          throw this.#unexpected("instead of a key in double quotes");
        }
        const key = this.#readString();
        this.#skipSpace();
        this.#expect(unit.colon, "a colon");
        this.#skipSpace();
        members.push({ key, value: this.#readValue(depth + 1) });
      } while (this.#continues(unit.closeBrace, "a comma or }"));
    }
    return { kind: "object", members, start, end: this.#at };
  }

  #readArray(depth: number): JsonNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    if (!this.#opensEmpty(depth, unit.closeBracket)) {
      do {
        items.push(this.#readValue(depth + 1));
      } while (this.#continues(unit.closeBracket, "a comma or ]"));
    }
    return { kind: "array", items, start, end: this.#at };
  }

  /** Returns true when the object or array that opens here is empty; its closing character is then consumed. */
  #opensEmpty(depth: number, close: number): boolean {
    if (depth > this.#depthMax) {
      throw tooDeep(this.#depthMax);
    }
    this.#at += 1;
    this.#skipSpace();
    return this.#accept(close);
  }

  /** Reads the character after an item: returns true for a comma, false for the end of the list. */
  #continues(close: number, expected: string): boolean {
    this.#skipSpace();
    if (this.#accept(close)) {
      return false;
    }
    this.#expect(unit.comma, expected);
    this.#skipSpace();
    return true;
  }

  #readString(): Extract<JsonNode, { kind: "string" }> {
    const start = this.#at;
    const backslash = this.#findBackslash(start + 1);
    const end = this.#findStringEnd(start + 1);
    let value = this.#text.slice(start + 1, end);
    if (backslash < end || (this.#hasControls && control.test(value))) {
      value = this.#decode(start, end);
    }
    this.#at = end + 1;
    return { kind: "string", value, start, end: end + 1 };
  }

  /** Returns the offset of the closing quote. The character after a backslash never ends the string. */
  #findStringEnd(start: number): number {
    for (let at = start; ; ) {
      const end = this.#findQuote(at);
      const backslash = this.#findBackslash(at);
      if (end === this.#text.length) {
        this.#at = end;
        throw this.#unexpected();
      }
      if (backslash >= end) {
        return end;
      }
      at = backslash + 2;
    }
  }

  // Both search again only after the last found place is passed. So the whole text is searched once for each, however many escapes
  // a string has.

  #findBackslash(start: number): number {
    if (this.#backslash < start) {
      this.#backslash = this.#find("\\", start);
    }
    return this.#backslash;
  }

  #findQuote(start: number): number {
    if (this.#quote < start) {
      this.#quote = this.#find('"', start);
    }
    return this.#quote;
  }

  /** Returns the length of the text when it has no such character. */
  #find(character: string, start: number): number {
    const at = this.#text.indexOf(character, start);
    return at === -1 ? this.#text.length : at;
  }

  #decode(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      this.#at = start + 1;
      for (stringPart.lastIndex = this.#at; stringPart.test(this.#text); ) {
        this.#at = stringPart.lastIndex;
      }
      const isEscape = this.#text.charCodeAt(this.#at) === unit.backslash;
      throw isEscape ? this.#fault("invalid escape in a string") : this.#unexpected("in a string: escape it");
    }
  }

  #readNumber(): JsonNode {
    const start = this.#at;
    numberPattern.lastIndex = start;
    if (!numberPattern.test(this.#text)) {
      throw this.#unexpected("instead of a value");
    }
    this.#at = numberPattern.lastIndex;
    return { kind: "number", start, end: this.#at };
  }

  #readWord(word: string, kind: "boolean" | "null"): JsonNode {
    const start = this.#at;
    if (!this.#text.startsWith(word, start)) {
      throw this.#unexpected("instead of a value");
    }
    this.#at += word.length;
    return { kind, start, end: this.#at };
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) <= unit.space) {
      spacePattern.lastIndex = this.#at;
      spacePattern.test(this.#text);
      this.#at = spacePattern.lastIndex;
    }
  }

  #accept(expected: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== expected) {
      return false;
    }
    this.#at += 1;
    return true;
  }

  #expect(expected: number, what: string): void {
    if (!this.#accept(expected)) {
      throw this.#unexpected(`instead of ${what}`);
    }
  }

  #unexpected(where?: string): JsonTextError {
    const codePoint = this.#text.codePointAt(this.#at);
    if (codePoint === undefined) {
      return new JsonTextError("unexpected EOF");
    }
    // It is invisible, so the error names it.
    const character =
      codePoint === 0xfeff ? "byte order mark" : `character ${JSON.stringify(String.fromCodePoint(codePoint))}`;
    return this.#fault(`unexpected ${character} ${where}`);
  }

  #fault(problem: string): JsonTextError {
    return jsonTextError(this.#text, this.#at, problem);
  }
}
