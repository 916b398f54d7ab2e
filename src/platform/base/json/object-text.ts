// JSON objects that arrive as text. They are read with the place of each member, and errors name the field that held the text.

import { invalidField } from "../fault.ts";
import { type JsonNode, JsonTextError, parseJsonText } from "./text.ts";

/** An object in a client's JSON text. Its readers throw INVALID_ARGUMENT when a member has the wrong type. */
export class ObjectText {
  readonly text: string;
  /** The place of the object, for error messages: `messages[3]`. */
  readonly field: string;
  readonly #node: JsonNode;
  readonly #members: ReadonlyMap<string, JsonNode>;

  constructor(text: string, field: string, node: JsonNode) {
    if (node.kind !== "object") {
      throw invalidField(field, `must be a JSON object, not ${withArticle(node.kind)}`);
    }
    this.text = text;
    this.field = field;
    this.#node = node;
    // The last of duplicate keys counts, as in every other parser.
    this.#members = new Map(node.members.map(({ key, value }) => [key.value, value]));
  }

  get keys(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** Returns the value of a key. `null` counts as missing. */
  find(key: string): JsonNode | undefined {
    const node = this.#members.get(key);
    return node?.kind === "null" ? undefined : node;
  }

  /** Returns undefined when the key is missing. */
  findText(key: string): string | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "string") {
      throw invalidField(`${this.field}.${key}`, `must be a string, not ${withArticle(node.kind)}`);
    }
    return node?.value.toWellFormed();
  }

  /** Throws INVALID_ARGUMENT when the key is missing or empty. */
  requireText(key: string): string {
    const value = this.findText(key);
    if (value === undefined || value === "") {
      throw invalidField(`${this.field}.${key}`, "is missing: give a string that is not empty");
    }
    return value;
  }

  /** Returns undefined when the key is missing. */
  findNumber(key: string): number | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "number") {
      throw invalidField(`${this.field}.${key}`, `must be a number, not ${withArticle(node.kind)}`);
    }
    return node && Number(this.textOf(node));
  }

  /** Returns undefined when the key is missing. */
  findBoolean(key: string): boolean | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "boolean") {
      throw invalidField(`${this.field}.${key}`, `must be true or false, not ${withArticle(node.kind)}`);
    }
    return node && this.textOf(node) === "true";
  }

  /** Returns an empty list when the key is missing. */
  findItems(key: string): readonly JsonNode[] {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "array") {
      throw invalidField(`${this.field}.${key}`, `must be a list, not ${withArticle(node.kind)}`);
    }
    return node?.items ?? [];
  }

  /** Returns undefined when the key is missing. */
  findObject(key: string): ObjectText | undefined {
    const node = this.find(key);
    return node && new ObjectText(this.text, `${this.field}.${key}`, node);
  }

  /** Throws INVALID_ARGUMENT when the key is missing. */
  requireObject(key: string): ObjectText {
    const value = this.findObject(key);
    if (value === undefined) {
      throw invalidField(`${this.field}.${key}`, "is missing: give a JSON object");
    }
    return value;
  }

  /** Returns the text of the object as written. */
  get ownText(): string {
    return this.textOf(this.#node);
  }

  /** Returns the text of a value as written. */
  textOf({ start, end }: JsonNode): string {
    return this.text.slice(start, end);
  }
}

/** Parses the text of a JSON object. Throws INVALID_ARGUMENT with the name of the field. */
export function readObjectText(text: string, field: string): ObjectText {
  try {
    return new ObjectText(text, field, parseJsonText(text));
  } catch (error) {
    if (error instanceof JsonTextError) {
      throw invalidField(field, `must be a JSON object: ${error.message}`);
    }
    throw error;
  }
}

/** Returns the kind with its article, for error messages: `an object`, `a string`, `null`. */
export function withArticle(kind: JsonNode["kind"]): string {
  return kind === "null" ? "null" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}
