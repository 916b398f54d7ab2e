// The members of one JSON object of a runner, read by name. An invalid member throws a PayloadFault, which says where it is and
// what to do.
//
// M1  A repeated name is refused: readers of the raw text and of the fields could each take another value.
// M2  `isWhole` is true when the read members are the whole object, so that nothing is lost without its raw text.

import { expectedNouns, type JsonKind, kindNouns, NodeReader } from "../../../../platform/base/json/member-reader.ts";
import { compactJson, type JsonNode } from "../../../../platform/base/json/text.ts";

/** An invalid payload. Its message is for the author of the runner. */
export class PayloadFault extends Error {
  override readonly name = "PayloadFault";
}

/** Reads the members of one object. */
export class Members extends NodeReader<Members> {
  #hasMore = false;

  /** Throws PayloadFault when the value is not an object. Messages call it `path`. */
  constructor(text: string, node: JsonNode, path: string) {
    super(text, node, path);
    const seen = new Set<string>();
    const twice = this.node.members.find(({ key }) => seen.size === seen.add(key.value).size);
    if (twice !== undefined) {
      throw new PayloadFault(`${path} has ${quote(twice.key.value)} twice: remove one`);
    }
  }

  /** The object as it was written, without white space. */
  get json(): string {
    return compactJson(this.text, this.node);
  }

  get isWhole(): boolean {
    return !this.#hasMore && this.unread.length === 0;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether all members fulfil the condition. */
  every(isTrue: (name: string, value: JsonNode) => boolean): boolean {
    return this.node.members.every(({ key, value }) => isTrue(key.value, value));
  }

  /** Returns the wanted members as a JSON object, as they were written, without white space. */
  select(isWanted: (name: string, value: JsonNode) => boolean): string {
    const members = this.node.members.filter(({ key, value }) => isWanted(key.value, value));
    return compactJson(this.text, { ...this.node, members });
  }

  /** Marks that the read members are not all of this object. */
  markMore(): void {
    this.#hasMore = true;
  }

  override find(name: string): JsonNode | undefined {
    const node = super.find(name);
    if (node === undefined && this.get(name) !== undefined) {
      this.markMore();
    }
    return node;
  }

  override findText(name: string): string | undefined {
    const text = super.findText(name);
    const node = this.get(name);
    // Half of a surrogate pair cannot be stored in a field; the raw text still has it.
    if (node?.kind === "string" && node.value !== text) {
      this.markMore();
    }
    return text;
  }

  /** Returns any value, including null. */
  require(name: string, expected: string): JsonNode {
    return this.get(name) ?? this.#fail(name, expected);
  }

  /** Returns a short text that is searched, listed or shown. */
  label(name: string): string {
    return this.#asLabel(name, this.requireText(name));
  }

  /** Returns undefined also for an empty text: the protocol allows it, and it labels nothing. */
  findLabel(name: string): string | undefined {
    const text = this.findText(name);
    return text === undefined || text === "" ? undefined : this.#asLabel(name, text);
  }

  /** Returns an integer. Only plain digits are valid: a counter does not write 1.0 or 1e3. */
  findInteger(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const node = this.find(name);
    if (node === undefined) {
      return undefined;
    }
    const digits = node.kind === "number" ? this.textOf(node) : "";
    const value = integerPattern.test(digits) ? Number(digits) : Number.NaN;
    return value >= min && value <= max ? value : this.#fail(name, `an integer from ${min} to ${max}`);
  }

  /** Returns an object as it was written, without white space. */
  findJson(name: string): string | undefined {
    const node = this.find(name);
    if (node === undefined) {
      return undefined;
    }
    return node.kind === "object" ? compactJson(this.text, node) : this.#fail(name, "an object");
  }

  refuseOthers(): void {
    const [name] = this.unread;
    if (name !== undefined) {
      throw new PayloadFault(`${this.path} has the unknown member ${quote(name)}: remove it`);
    }
  }

  protected override open(node: JsonNode, path: string): Members {
    return new Members(this.text, node, path);
  }

  protected override wrong(path: string, expected: JsonKind, found: JsonNode | undefined): Error {
    return unexpected(path, expected === "string" ? "text" : expectedNouns[expected], found);
  }

  #asLabel(name: string, text: string): string {
    if (!isLabel(text)) {
      const problem = `must have 1 to ${labelCharsMax} characters and no control character`;
      throw new PayloadFault(`${this.at(name)} ${problem}`);
    }
    return text;
  }

  #fail(name: string, expected: string): never {
    throw unexpected(this.at(name), expected, this.get(name));
  }
}

function unexpected(path: string, expected: string, found: JsonNode | undefined): PayloadFault {
  return new PayloadFault(`${path} is ${found === undefined ? "missing" : describe(found)}: expected ${expected}`);
}

/** Whether the host can store and show the text unchanged. */
export function isLabel(text: string): boolean {
  return text.length >= 1 && text.length <= labelCharsMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** The maximum characters of a label: enough for every meaningful id, type and name. */
export const labelCharsMax = 255;

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
  return kind === "string" ? "text" : kindNouns[kind];
}
