// Reads the members of a JSON object by name. A subclass words the errors and chooses their class.
//
// M1  A member that is null counts as missing, except for `get`.
// M2  `unread` names the members that nothing asked for, so that a strict caller can refuse them.

import { RawJson } from "./exact.ts";
import type { JsonObject } from "./free.ts";
import { isObject } from "./parse-object.ts";
import type { JsonNode } from "./text.ts";

/** The kinds of JSON values. */
export type JsonKind = JsonNode["kind"];

/** The values of one kind, for error messages. */
export const kindNouns = {
  object: "an object",
  array: "a list",
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  null: "null",
} as const satisfies Record<JsonKind, string>;

/** The expected values of one kind, for error messages: `must be true or false`. */
export const expectedNouns = { ...kindNouns, boolean: "true or false" } as const;

/** Reads one object. Its methods throw the error of the subclass for a member of another kind. */
abstract class MemberReader<Value, Self> {
  /** The place of the object, for error messages: `messages[3]`. Empty for a whole document. */
  readonly path: string;
  readonly #members: ReadonlyMap<string, Value>;
  readonly #read = new Set<string>();

  protected constructor(path: string, members: ReadonlyMap<string, Value>) {
    this.path = path;
    this.#members = members;
  }

  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  get unread(): readonly string[] {
    return this.names.filter((name) => !this.#read.has(name));
  }

  /** Returns the path of a member. */
  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** Returns the value as it is, including null. Returns undefined when it is missing. */
  get(name: string): Value | undefined {
    this.#read.add(name);
    return this.#members.get(name);
  }

  /** Returns undefined when the member is missing or null, as all methods with `find` do. */
  find(name: string): Value | undefined {
    const value = this.get(name);
    return value === undefined || this.kindOf(value) === "null" ? undefined : value;
  }

  findText(name: string): string | undefined {
    return this.#findOf(name, "string");
  }

  findNumber(name: string): number | undefined {
    return this.#findOf(name, "number");
  }

  findFlag(name: string): boolean | undefined {
    return this.#findOf(name, "boolean");
  }

  findItems(name: string): readonly Value[] | undefined {
    return this.#findOf(name, "array");
  }

  findObject(name: string): Self | undefined {
    const value = this.find(name);
    return value === undefined ? undefined : this.open(value, this.at(name));
  }

  /** Returns the objects of a list. */
  findObjects(name: string): Self[] | undefined {
    return this.findItems(name)?.map((item, index) => this.open(item, this.at(`${name}[${index}]`)));
  }

  requireText(name: string): string {
    return this.findText(name) ?? this.refuse(name, "string");
  }

  requireObject(name: string): Self {
    return this.findObject(name) ?? this.refuse(name, "object");
  }

  /** Throws the error of a missing member. */
  protected refuse(name: string, expected: JsonKind): never {
    throw this.missing(this.at(name), expected, this.get(name));
  }

  /** Returns the error of a value of another kind. It is called before the fields of a subclass are set. */
  protected abstract wrong(path: string, expected: JsonKind, found: Value | undefined): Error;

  /** Returns the error of a required member that is missing or null. */
  protected missing(path: string, expected: JsonKind, found: Value | undefined): Error {
    return this.wrong(path, expected, found);
  }

  protected abstract open(value: Value, path: string): Self;

  protected abstract kindOf(value: Value): JsonKind;

  /** Returns the value as JavaScript has it; of a list, its items. */
  protected abstract plain(value: Value): unknown;

  #findOf<T>(name: string, kind: JsonKind): T | undefined {
    const value = this.find(name);
    if (value !== undefined && this.kindOf(value) !== kind) {
      throw this.wrong(this.at(name), kind, value);
    }
    return value === undefined ? undefined : (this.plain(value) as T);
  }
}

/** Reads an object of a text, whose values keep their places. The last of duplicate keys counts, as in every other parser. */
export abstract class NodeReader<Self> extends MemberReader<JsonNode, Self> {
  /** The text that the object is in. */
  readonly text: string;
  protected readonly node: JsonObject;

  constructor(text: string, node: JsonNode, path: string) {
    const members = node.kind === "object" ? node.members : [];
    super(path, new Map(members.map(({ key, value }) => [key.value, value])));
    if (node.kind !== "object") {
      throw this.wrong(path, "object", node);
    }
    this.text = text;
    this.node = node;
  }

  /** The text of the object as written. */
  get ownText(): string {
    return this.textOf(this.node);
  }

  /** Returns the text of a value as written. */
  textOf({ start, end }: JsonNode): string {
    return this.text.slice(start, end);
  }

  protected override kindOf({ kind }: JsonNode): JsonKind {
    return kind;
  }

  /** Half of a surrogate pair becomes U+FFFD: it cannot be stored. */
  protected override plain(node: JsonNode): unknown {
    switch (node.kind) {
      case "string":
        return node.value.toWellFormed();
      case "array":
        return node.items;
      default:
        return JSON.parse(this.textOf(node));
    }
  }
}

/** Reads an object that `JSON.parse` or `parseExact` gave. */
export abstract class ValueReader<Self> extends MemberReader<unknown, Self> {
  constructor(value: unknown, path = "") {
    super(path, new Map(isObject(value) ? Object.entries(value) : []));
    if (!isObject(value)) {
      throw this.wrong(path, "object", value);
    }
  }

  protected override kindOf(value: unknown): JsonKind {
    if (value === null) {
      return "null";
    }
    if (value instanceof RawJson) {
      return "number";
    }
    return Array.isArray(value) ? "array" : (typeof value as "object" | "string" | "number" | "boolean");
  }

  protected override plain(value: unknown): unknown {
    return value instanceof RawJson ? Number(value.text) : value;
  }
}
