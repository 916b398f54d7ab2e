// Reads one JSON value inside a model's text, once and from left to right, and repairs the slips that models make.
// R1  It repairs curly quotes around strings, comments between values, commas before a closing bracket, and raw line breaks in
//     strings. Line comments count only at the start of a line. It repairs nothing else, and the contents of strings stay
//     unchanged.
// R2  A text that ends inside the value (`cut`) differs from a text that is not JSON (`broken`).
// R3  A list whose entries are all strict JSON does not count as repaired: each entry could have been read alone.

import { jsonDepthMax } from "../../../platform/base/json/text.ts";
import { type Json, type JsonObject, numberOf } from "./json.ts";

/** The outcome of reading one value. */
export type Reading = ValueReading | Unreadable;

/** A value that was read, and the offset after it. */
export interface ValueReading {
  readonly kind: "value";
  readonly value: Json;
  readonly end: number;
  readonly isRepaired: boolean;
}

/** The reason why no value was read, and how far reading got. */
export interface Unreadable {
  /** `cut` means that the text ended inside the value. */
  readonly kind: "cut" | "broken";
  readonly problem: string;
  /** The offset where reading stopped: the start of a string, or the unexpected character. */
  readonly at: number;
  /** The offset up to which the text was read. */
  readonly reach: number;
  /** The number of open brackets where reading stopped. */
  readonly depth: number;
  /** True when a member name and its colon were read: the text was meant as JSON and is not just brackets in prose. */
  readonly hasMember: boolean;
}

/** Reads the JSON value at an offset, with the repairs of R1. */
export function readLenientJson(text: string, at: number): Reading {
  return new Reader(text, at).read();
}

/**
 * Returns the offset after the bracket that closes `depth` brackets opened before `at`. Returns undefined when the text ends
 * first.
 */
export function findClosing(text: string, at: number, depth: number): number | undefined {
  let open = depth;
  for (let next = at; next < text.length; next++) {
    const character = text[next];
    if (character === '"') {
      next = findQuote(text, next + 1);
    } else if (character === "{" || character === "[") {
      open += 1;
    } else if (character === "}" || character === "]") {
      open -= 1;
      if (open <= 0) {
        return next + 1;
      }
    }
  }
  return undefined;
}

function findQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at;
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = { t: ["true", true], f: ["false", false], n: ["null", null] } as const;
const firstPrintable = " ";

/** Reads one value. Each `#read…` method returns undefined after a failure, whose reason `#fail` has recorded. */
class Reader {
  readonly #text: string;
  #at: number;
  #depth = 0;
  #repairs = 0;
  /** Repairs in the entries of the outermost list. */
  #entryRepairs = 0;
  #hasMember = false;
  #isCut = false;
  #problem = "";
  #reach = 0;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  read(): Reading {
    this.#skipBlanks();
    // Repairs before the value do not count: the value itself may still be strict.
    this.#repairs = 0;
    const value = this.#readValue();
    if (value === undefined) {
      return {
        kind: this.#isCut ? "cut" : "broken",
        problem: this.#problem,
        at: this.#at,
        reach: this.#reach,
        depth: this.#depth,
        hasMember: this.#hasMember,
      };
    }
    const hasEntries = Array.isArray(value) && value.length > 0;
    return { kind: "value", value, end: this.#at, isRepaired: (hasEntries ? this.#entryRepairs : this.#repairs) > 0 };
  }

  #readValue(): Json | undefined {
    const first = this.#text.charAt(this.#at);
    switch (first) {
      case "{":
        return this.#readObject();
      case "[":
        return this.#readList();
      case "t":
      case "f":
      case "n":
        return this.#readWord(first);
      default:
        return isQuote(first) ? this.#readString() : this.#readNumber();
    }
  }

  #readObject(): JsonObject | undefined {
    const object: Record<string, Json> = {};
    const isRead = this.#readEntries("}", () => {
      const key = this.#readKey();
      const value = key === undefined ? undefined : this.#readValue();
      if (key === undefined || value === undefined) {
        return false;
      }
      setMember(object, key, value);
      return true;
    });
    return isRead ? object : undefined;
  }

  #readList(): Json[] | undefined {
    const list: Json[] = [];
    const isOutermost = this.#depth === 0;
    const isRead = this.#readEntries("]", () => {
      const repairsBefore = this.#repairs;
      const value = this.#readValue();
      if (value === undefined) {
        return false;
      }
      list.push(value);
      if (isOutermost) {
        this.#entryRepairs += this.#repairs - repairsBefore;
      }
      return true;
    });
    return isRead ? list : undefined;
  }

  /** Reads from the opening bracket to the closing one; `readEntry` returns false when an entry is invalid. */
  #readEntries(close: string, readEntry: () => boolean): boolean {
    if (this.#depth === jsonDepthMax) {
      return this.#fail(`nested deeper than ${jsonDepthMax} levels`);
    }
    this.#depth += 1;
    this.#at += 1;
    this.#skipBlanks();
    for (let isFirst = true; !this.#accept(close); isFirst = false) {
      if (!isFirst) {
        if (!this.#accept(",")) {
          return this.#fail(`a comma or ${close} is expected`);
        }
        this.#skipBlanks();
        if (this.#accept(close)) {
          this.#repairs += 1;
          break;
        }
      }
      if (!readEntry()) {
        return false;
      }
      this.#skipBlanks();
    }
    this.#depth -= 1;
    return true;
  }

  #readKey(): string | undefined {
    if (!isQuote(this.#text.charAt(this.#at))) {
      this.#fail("a name in double quotes is expected");
      return undefined;
    }
    const key = this.#readString();
    if (key === undefined) {
      return undefined;
    }
    this.#skipBlanks();
    if (!this.#accept(":")) {
      this.#fail("a colon is expected");
      return undefined;
    }
    this.#hasMember = true;
    this.#skipBlanks();
    return key;
  }

  #readString(): string | undefined {
    const start = this.#at;
    const end = this.#findStringEnd(start);
    if (end === undefined) {
      return undefined;
    }
    const written = this.#text.slice(start + 1, end);
    const escaped = written.replaceAll("\r", "").replaceAll("\n", "\\n");
    const value = decodeString(escaped);
    if (value === undefined) {
      this.#fail("invalid escape");
      return undefined;
    }
    if (this.#text.charAt(start) !== '"' || escaped !== written) {
      this.#repairs += 1;
    }
    this.#at = end + 1;
    return value;
  }

  /** Finds the end of a string. Fails on a straight quote inside curly ones, because the end of such a string is ambiguous. */
  #findStringEnd(start: number): number | undefined {
    const isCurly = this.#text.charAt(start) !== '"';
    for (let at = start + 1; at < this.#text.length; at++) {
      const character = this.#text.charAt(at);
      if (isCurly ? isCurlyQuote(character) : character === '"') {
        return at;
      }
      const problem = problemInString(character, this.#text.charAt(at + 1));
      if (problem !== undefined) {
        this.#fail(problem, at);
        return undefined;
      }
      if (character === "\\") {
        at += 1;
      }
    }
    this.#fail("a string has no closing quote", this.#text.length);
    return undefined;
  }

  #readNumber(): Json | undefined {
    numberPattern.lastIndex = this.#at;
    const written = numberPattern.exec(this.#text)?.[0];
    if (written === undefined) {
      this.#fail("a value is expected");
      return undefined;
    }
    this.#at += written.length;
    return numberOf(written);
  }

  #readWord(first: "t" | "f" | "n"): Json | undefined {
    const [word, value] = words[first];
    if (!this.#accept(word)) {
      this.#fail("a value is expected");
      return undefined;
    }
    return value;
  }

  #skipBlanks(): void {
    for (let isLineStart = false; ; ) {
      const character = this.#text.charAt(this.#at);
      if (isBlank(character)) {
        isLineStart ||= character === "\n";
        this.#at += 1;
      } else if (!this.#skipComment(isLineStart)) {
        return;
      }
    }
  }

  #skipComment(isLineStart: boolean): boolean {
    const isBlock = this.#text.startsWith("/*", this.#at);
    if (!isBlock && !(isLineStart && this.#text.startsWith("//", this.#at))) {
      return false;
    }
    const end = this.#text.indexOf(isBlock ? "*/" : "\n", this.#at + 2);
    // The line break stays unread, because it marks the start of the next line.
    this.#at = end === -1 ? this.#text.length : end + (isBlock ? 2 : 0);
    this.#repairs += 1;
    return true;
  }

  #accept(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) {
      return false;
    }
    this.#at += token.length;
    return true;
  }

  /** Records a failure. `reach` is the offset of the problem; `#at` stays at the beginning of a string. */
  #fail(problem: string, reach = this.#at): false {
    this.#isCut = reach >= this.#text.length;
    this.#problem = `${problem}, at offset ${reach}`;
    this.#reach = reach;
    return false;
  }
}

/**
 * Returns the problem of a character in a string. Raw line breaks are repaired, but not after a backslash, where the intention
 * is unclear.
 */
function problemInString(character: string, next: string): string | undefined {
  if (character === '"') {
    return "a straight quote in a string with curly quotes";
  }
  if (character === "\\") {
    return next !== "" && next < firstPrintable ? "invalid escape" : undefined;
  }
  const isControl = character < firstPrintable && character !== "\n" && character !== "\r";
  return isControl ? "a control character in a string has to be escaped" : undefined;
}

function isQuote(character: string): boolean {
  return character === '"' || isCurlyQuote(character);
}

function isCurlyQuote(character: string): boolean {
  return character === "\u201c" || character === "\u201d";
}

function isBlank(character: string): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}

function decodeString(escaped: string): string | undefined {
  if (!escaped.includes("\\") && !escaped.includes('"')) {
    return escaped;
  }
  try {
    return JSON.parse(`"${escaped}"`);
  } catch {
    return undefined;
  }
}

/** Sets a member of an object; `__proto__` becomes an ordinary member. */
function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
