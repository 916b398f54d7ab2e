// The members of one JSON object of a runner, read by name. An invalid member throws a PayloadFault, which says where it is and
// what to do.
//
// M1  A repeated name is refused: readers of the raw text and of the fields could each take another value.
// M2  `isWhole` is true when the read members are the whole object, so that nothing is lost without its raw text.

import { compactJson, type JsonNode } from "../../../../platform/base/json/text.ts";

/** An invalid payload. Its message is for the author of the runner. */
export class PayloadFault extends Error {
  override readonly name = "PayloadFault";
}

type ObjectNode = Extract<JsonNode, { kind: "object" }>;

/** Reads the members of one object. */
export class Members {
  readonly path: string;
  readonly #text: string;
  readonly #node: ObjectNode;
  readonly #byName = new Map<string, JsonNode>();
  readonly #asked = new Set<string>();
  #hasMore = false;

  /** Throws PayloadFault when the value is not an object. Messages call it `path`. */
  constructor(text: string, node: JsonNode, path: string) {
    if (node.kind !== "object") {
      throw new PayloadFault(`${path} is ${describe(node)}: expected an object`);
    }
    this.path = path;
    this.#text = text;
    this.#node = node;
    for (const { key, value } of node.members) {
      if (this.#byName.has(key.value)) {
        throw new PayloadFault(`${path} has ${quote(key.value)} twice: remove one`);
      }
      this.#byName.set(key.value, value);
    }
  }

  /** The object as it was written, without white space. */
  get json(): string {
    return compactJson(this.#text, this.#node);
  }

  get isWhole(): boolean {
    return !this.#hasMore && this.#asked.size === this.#byName.size;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether all members fulfil the condition. */
  every(isTrue: (name: string, value: JsonNode) => boolean): boolean {
    return this.#node.members.every(({ key, value }) => isTrue(key.value, value));
  }

  /** Returns the wanted members as a JSON object, as they were written, without white space. */
  select(isWanted: (name: string, value: JsonNode) => boolean): string {
    const members = this.#node.members.filter(({ key, value }) => isWanted(key.value, value));
    return compactJson(this.#text, { ...this.#node, members });
  }

  /** The names of members that were not read, fit to be shown. */
  get unasked(): string[] {
    return [...this.#byName.keys()].filter((name) => !this.#asked.has(name)).map(quote);
  }

  /** Marks that the read members are not all of this object. */
  markMore(): void {
    this.#hasMore = true;
  }

  /** Returns any value, including null. Undefined when the member is missing. */
  find(name: string): JsonNode | undefined {
    const node = this.#byName.get(name);
    if (node !== undefined) {
      this.#asked.add(name);
    }
    return node;
  }

  require(name: string, expected: string): JsonNode {
    return this.find(name) ?? this.#fail(name, undefined, expected);
  }

  /** Like `find`, but null counts as missing. */
  findValue(name: string): JsonNode | undefined {
    const node = this.find(name);
    if (node?.kind === "null") {
      this.markMore();
      return undefined;
    }
    return node;
  }

  text(name: string): string {
    return this.#readText(name, this.require(name, "text"));
  }

  findText(name: string): string | undefined {
    const node = this.findValue(name);
    return node && this.#readText(name, node);
  }

  /** Returns a short text that is searched, listed or shown. */
  label(name: string): string {
    this.require(name, "text");
    return this.findLabel(name) ?? this.text(name);
  }

  findLabel(name: string): string | undefined {
    const text = this.findText(name);
    if (text !== undefined && !isLabel(text)) {
      const problem = `must have 1 to ${labelCharsMax} characters and no control character`;
      throw new PayloadFault(`${this.path}.${name} ${problem}`);
    }
    return text;
  }

  findFlag(name: string): boolean | undefined {
    const node = this.findValue(name);
    if (node === undefined) {
      return undefined;
    }
    return node.kind === "boolean" ? this.raw(node) === "true" : this.#fail(name, node, "true or false");
  }

  /** Returns an integer. Only plain digits are valid: a counter does not write 1.0 or 1e3. */
  findInteger(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const node = this.findValue(name);
    if (node === undefined) {
      return undefined;
    }
    const digits = node.kind === "number" ? this.raw(node) : "";
    const value = integerPattern.test(digits) ? Number(digits) : Number.NaN;
    return value >= min && value <= max ? value : this.#fail(name, node, `an integer from ${min} to ${max}`);
  }

  /** Returns an object as it was written, without white space. */
  findJson(name: string): string | undefined {
    const node = this.findValue(name);
    if (node === undefined) {
      return undefined;
    }
    return node.kind === "object" ? compactJson(this.#text, node) : this.#fail(name, node, "an object");
  }

  members(name: string): Members {
    return this.#open(this.require(name, "an object"), name);
  }

  findMembers(name: string): Members | undefined {
    const node = this.findValue(name);
    return node && this.#open(node, name);
  }

  /** Returns the objects of a list. */
  findItems(name: string): Members[] | undefined {
    const node = this.findValue(name);
    if (node === undefined) {
      return undefined;
    }
    const items = node.kind === "array" ? node.items : this.#fail(name, node, "a list");
    return items.map((item, index) => this.#open(item, `${name}[${index}]`));
  }

  refuseOthers(): void {
    for (const { key } of this.#node.members) {
      if (!this.#asked.has(key.value)) {
        throw new PayloadFault(`${this.path} has the unknown member ${quote(key.value)}: remove it`);
      }
    }
  }

  /** Returns a value exactly as it was written. */
  raw({ start, end }: JsonNode): string {
    return this.#text.slice(start, end);
  }

  #open(node: JsonNode, name: string): Members {
    return new Members(this.#text, node, `${this.path}.${name}`);
  }

  #readText(name: string, node: JsonNode): string {
    if (node.kind !== "string") {
      return this.#fail(name, node, "text");
    }
    if (node.value.isWellFormed()) {
      return node.value;
    }
    // A lone surrogate cannot be stored in a field; the raw text still has it.
    this.markMore();
    return node.value.toWellFormed();
  }

  #fail(name: string, node: JsonNode | undefined, expected: string): never {
    const found = node === undefined ? "is missing" : `is ${describe(node)}`;
    throw new PayloadFault(`${this.path}.${name} ${found}: expected ${expected}`);
  }
}

/** Whether the host can store and show the text unchanged. */
export function isLabel(text: string): boolean {
  return text.length >= 1 && text.length <= labelCharsMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** The maximum characters of a label: enough for every meaningful id, type and name. */
const labelCharsMax = 255;

/** At most 16 digits, more than any number that counts here: a longer text would be slow to convert. */
const integerPattern = /^-?\d{1,16}$/;

/** The maximum characters of a quoted name, which may be as long as the payload. */
const quotedCharsMax = 64;

/** Quotes and cuts a text, so that it is safe to store and to show. */
export function quote(text: string): string {
  const shown = text.length > quotedCharsMax ? `${text.slice(0, quotedCharsMax)}…` : text;
  return JSON.stringify(shown);
}

/** Names the kind of a value for messages: `a list`. */
export function describe({ kind }: JsonNode): string {
  switch (kind) {
    case "string":
      return "text";
    case "array":
      return "a list";
    case "object":
      return "an object";
    case "null":
      return "null";
    default:
      return `a ${kind}`;
  }
}
