// JSON as a signer meant it: a strict reader of received bytes that forgets nothing which matters to a signature.
// R1  Refused: bytes that are not UTF-8, a byte order mark, anything after the value, numbers beyond a float64, too deep nesting.
// R2  Of members with the same name the last one counts; names are compared as they read after decoding.
// R3  Half of a surrogate pair, which no UTF-8 can hold, reads as U+FFFD.
// R4  What reads otherwise than it was written (R2, R3, integers that a float64 cannot hold) is remarked.

/** Objects keep their members as they came: no prototype, no order of its own for names that look like numbers. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

/** Where in the text something stands, in UTF-16 units; `end` is behind it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Remark {
  readonly what: "duplicate_key" | "lone_surrogate" | "inexact_integer";
  /** As in RFC 6901: `/constraints/regions/0`; the beginning of a long one. */
  readonly path: string;
}

export interface ReadDocument {
  readonly text: string;
  readonly object: JsonObject;
  /** The values of the outermost members. */
  readonly spans: ReadonlyMap<string, Span>;
  /** The first ones: see `remarksMax`. */
  readonly remarks: readonly Remark[];
}

export class JsonFault extends Error {
  override readonly name = "JsonFault";
}

/** Arrays and objects inside each other. Deeper ones are made by machines that mean no good. */
const depthMax = 512;

const remarksMax = 16;
/** Names may be as long as the body; what is told of them goes into answers. */
const remarkPathMax = 200;

/** Throws a `JsonFault` that says what is wrong and where. */
export function readDocument(bytes: Uint8Array): ReadDocument {
  return new Reader(decode(bytes)).readDocument();
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonFault("body is not UTF-8");
  }
}

const code = {
  tab: 0x09,
  newline: 0x0a,
  return: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  e: 0x65,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

class Reader {
  readonly #text: string;
  readonly #remarks: Remark[] = [];
  /** The name or index at each depth, as far as the value that is being read. */
  readonly #path: (string | number)[] = [];
  /** Any character that may not stand in a string as it is; between values there may be some. */
  readonly #hasControls: boolean;
  #at = 0;
  #backslash = -1;

  constructor(text: string) {
    this.#text = text;
    this.#hasControls = control.test(text);
  }

  readDocument(): ReadDocument {
    this.#skipSpace();
    if (this.#peek() !== code.openBrace) {
      throw this.#fault(this.#text.trim() === "" ? "there is no value" : "a JSON object is expected");
    }
    const spans = new Map<string, Span>();
    const object = this.#readObject(1, spans);
    this.#skipSpace();
    if (this.#at < this.#text.length) {
      throw this.#fault("nothing is expected after the value");
    }
    return { text: this.#text, object, spans, remarks: this.#remarks };
  }

  #readValue(depth: number): Json {
    const first = this.#peek();
    switch (first) {
      case code.quote:
        return this.#readString(depth);
      case code.openBrace:
        return this.#readObject(depth);
      case code.openBracket:
        return this.#readArray(depth);
      default:
        return first === code.minus || isDigit(first) ? this.#readNumber(depth) : this.#readWord();
    }
  }

  #readObject(depth: number, spans?: Map<string, Span>): JsonObject {
    const object: JsonObject = new Map();
    this.#open(depth);
    if (this.#peek() === code.closeBrace) {
      this.#at += 1;
      return object;
    }
    for (let size = 1; ; size++) {
      if (this.#peek() !== code.quote) {
        throw this.#fault("a member's name in double quotes is expected");
      }
      const key = this.#readString(depth);
      this.#path[depth - 1] = key;
      this.#skipSpace();
      this.#expect(code.colon, "a colon");
      this.#skipSpace();
      const start = this.#at;
      object.set(key, this.#readValue(depth + 1));
      spans?.set(key, { start, end: this.#at });
      if (object.size < size) {
        size -= 1;
        this.#remark("duplicate_key", depth + 1);
      }
      if (this.#endsAfterItem(code.closeBrace, "a comma or }")) {
        return object;
      }
    }
  }

  #readArray(depth: number): Json[] {
    const items: Json[] = [];
    this.#open(depth);
    if (this.#peek() === code.closeBracket) {
      this.#at += 1;
      return items;
    }
    for (;;) {
      this.#path[depth - 1] = items.length;
      items.push(this.#readValue(depth + 1));
      if (this.#endsAfterItem(code.closeBracket, "a comma or ]")) {
        return items;
      }
    }
  }

  #open(depth: number): void {
    if (depth > depthMax) {
      throw this.#fault(`arrays and objects are nested more than ${depthMax} levels deep`);
    }
    this.#at += 1;
    this.#skipSpace();
  }

  #endsAfterItem(close: number, expected: string): boolean {
    this.#skipSpace();
    if (this.#peek() === close) {
      this.#at += 1;
      return true;
    }
    this.#expect(code.comma, expected);
    this.#skipSpace();
    return false;
  }

  #readString(depth: number): string {
    const start = this.#at + 1;
    const end = this.#text.indexOf('"', start);
    if (end === -1 || this.#findBackslash(start) < end) {
      return this.#readOddString(start, depth);
    }
    const read = this.#text.slice(start, end);
    if (this.#hasControls && control.test(read)) {
      return this.#readOddString(start, depth);
    }
    this.#at = end + 1;
    return read;
  }

  /** The first one from here on; looked for again only when that one is passed. */
  #findBackslash(start: number): number {
    if (this.#backslash < start) {
      const at = this.#text.indexOf("\\", start);
      this.#backslash = at === -1 ? this.#text.length : at;
    }
    return this.#backslash;
  }

  /** A string with something in it that may have to be decoded or refused, which the language does itself. */
  #readOddString(start: number, depth: number): string {
    const end = this.#findStringEnd(start);
    this.#at = end + 1;
    const decoded = this.#decode(start, end);
    if (decoded.isWellFormed()) {
      return decoded;
    }
    this.#remark("lone_surrogate", depth);
    return decoded.toWellFormed();
  }

  /** Whatever comes after a backslash ends nothing. */
  #findStringEnd(start: number): number {
    let at = start;
    for (;;) {
      const end = this.#text.indexOf('"', at);
      if (end === -1) {
        this.#at = this.#text.length;
        throw this.#fault("the text ends in a string");
      }
      const backslash = this.#findBackslash(at);
      if (backslash >= end) {
        return end;
      }
      at = backslash + 2;
    }
  }

  #decode(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start - 1, end + 1));
    } catch {
      this.#at = start;
      for (stringPart.lastIndex = start; stringPart.test(this.#text); ) {
        this.#at = stringPart.lastIndex;
      }
      throw this.#fault(this.#peek() === code.backslash ? "no such escape" : rawControl);
    }
  }

  #readNumber(depth: number): number {
    const start = this.#at;
    let value = 0;
    let at = start;
    let unit = this.#peek();
    for (; isDigit(unit); unit = this.#text.charCodeAt(at)) {
      value = value * 10 + unit - code.zero;
      at += 1;
    }
    const isPlain = unit !== code.point && (unit | lowerCase) !== code.e && at > start && at - start < safeDigits;
    if (isPlain && (at === start + 1 || this.#peek() !== code.zero)) {
      this.#at = at;
      return value;
    }
    return this.#readAnyNumber(depth);
  }

  #readAnyNumber(depth: number): number {
    numberText.lastIndex = this.#at;
    const text = numberText.exec(this.#text)?.[0];
    if (text === undefined) {
      throw this.#fault("no such number");
    }
    const value = Number(text);
    if (!Number.isFinite(value)) {
      throw this.#fault("the number is too large for a float64");
    }
    if (text.length > safeDigits && isInexact(text, value)) {
      this.#remark("inexact_integer", depth);
    }
    this.#at += text.length;
    return value;
  }

  #readWord(): Json {
    for (const [word, value] of words) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    throw this.#fault("a value is expected");
  }

  #peek(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #expect(expected: number, what: string): void {
    if (this.#peek() !== expected) {
      throw this.#fault(`${what} is expected`);
    }
    this.#at += 1;
  }

  #skipSpace(): void {
    for (let unit = this.#peek(); unit <= code.space && isSpace(unit); unit = this.#peek()) {
      this.#at += 1;
    }
  }

  /** Of what stands at this depth. */
  #remark(what: Remark["what"], depth: number): void {
    if (this.#remarks.length < remarksMax) {
      const names = this.#path.slice(0, depth - 1);
      const path = names.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
      this.#remarks.push({ what, path: path.slice(0, remarkPathMax).toWellFormed() });
    }
  }

  #fault(problem: string): JsonFault {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n");
    return new JsonFault(`${problem}, at line ${line}, column ${column}`);
  }
}

/** Below the space, which is the first of all others. */
const control = /[^ -\uffff]/;
const rawControl = "a control character in a string has to be escaped";

const words = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const;

const numberText = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const stringPart = /[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** The bit by which e differs from E. */
const lowerCase = 0x20;

/** Integers of fewer characters are exact. */
const safeDigits = 15;

function isInexact(text: string, value: number): boolean {
  return /^-?\d+$/.test(text) && BigInt(text) !== BigInt(value);
}

function isDigit(unit: number): boolean {
  return unit >= code.zero && unit <= code.nine;
}

function isSpace(unit: number): boolean {
  return unit === code.space || unit === code.newline || unit === code.return || unit === code.tab;
}
