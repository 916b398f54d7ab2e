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
export const depthMax = 512;

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
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

class Reader {
  readonly #text: string;
  readonly #remarks: Remark[] = [];
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
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
        return this.#readString();
      case code.openBrace:
        return this.#readObject(depth);
      case code.openBracket:
        return this.#readArray(depth);
      default:
        return first === code.minus || isDigit(first) ? this.#readNumber() : this.#readWord();
    }
  }

  #readObject(depth: number, spans?: Map<string, Span>): JsonObject {
    const object: JsonObject = new Map();
    this.#open(depth);
    if (this.#peek() === code.closeBrace) {
      this.#at += 1;
      return object;
    }
    for (;;) {
      if (this.#peek() !== code.quote) {
        throw this.#fault("a member's name in double quotes is expected");
      }
      const key = this.#readString();
      this.#path.push(key);
      if (object.has(key)) {
        this.#remark("duplicate_key");
      }
      this.#skipSpace();
      this.#expect(code.colon, "a colon");
      this.#skipSpace();
      const start = this.#at;
      object.set(key, this.#readValue(depth + 1));
      spans?.set(key, { start, end: this.#at });
      this.#path.pop();
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
      this.#path.push(items.length);
      items.push(this.#readValue(depth + 1));
      this.#path.pop();
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

  #readString(): string {
    const start = this.#at + 1;
    const end = this.#findStringEnd(start);
    this.#at = end + 1;
    const raw = this.#text.slice(start, end);
    if (!raw.includes("\\")) {
      return raw;
    }
    const decoded: string = JSON.parse(`"${raw}"`);
    if (decoded.isWellFormed()) {
      return decoded;
    }
    this.#remark("lone_surrogate");
    return decoded.toWellFormed();
  }

  /** Looks at escapes as well, so that what stands between the quotes is a JSON string. */
  #findStringEnd(start: number): number {
    const text = this.#text;
    for (let at = start; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === code.quote) {
        return at;
      }
      if (unit < code.space) {
        this.#at = at;
        throw this.#fault("a control character in a string has to be escaped");
      }
      if (unit === code.backslash) {
        escapeSequence.lastIndex = at;
        const length = escapeSequence.exec(text)?.[0].length;
        if (length === undefined) {
          this.#at = at;
          throw this.#fault("no such escape");
        }
        at += length - 1;
      }
    }
    this.#at = text.length;
    throw this.#fault("the text ends in a string");
  }

  #readNumber(): number {
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
      this.#remark("inexact_integer");
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
    for (let unit = this.#peek(); isSpace(unit); unit = this.#peek()) {
      this.#at += 1;
    }
  }

  #remark(what: Remark["what"]): void {
    if (this.#remarks.length < remarksMax) {
      const path = this.#path.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
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

const words = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const;

const numberText = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

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
