// JSON objects that come as text: read with the place of each member, and refused with the field that they came in.

import { invalidField } from "../fault.ts";
import { type JsonNode, JsonTextError, parseJsonText } from "./text.ts";

/** An object of somebody's JSON text. */
export class ObjectText {
  readonly text: string;
  /** Where it stands, for messages: `messages[3]`. */
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
    // Of a key that comes twice the last one counts, as with every other reader.
    this.#members = new Map(node.members.map(({ key, value }) => [key.value, value]));
  }

  get keys(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** `null` counts as missing. */
  find(key: string): JsonNode | undefined {
    const node = this.#members.get(key);
    return node?.kind === "null" ? undefined : node;
  }

  /** Undefined when it is missing. */
  findText(key: string): string | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "string") {
      throw invalidField(`${this.field}.${key}`, `must be a string, not ${withArticle(node.kind)}`);
    }
    return node?.value.toWellFormed();
  }

  requireText(key: string): string {
    const value = this.findText(key);
    if (value === undefined || value === "") {
      throw invalidField(`${this.field}.${key}`, "is missing: give a string that is not empty");
    }
    return value;
  }

  /** Undefined when it is missing. */
  findNumber(key: string): number | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "number") {
      throw invalidField(`${this.field}.${key}`, `must be a number, not ${withArticle(node.kind)}`);
    }
    return node && Number(this.textOf(node));
  }

  /** Undefined when it is missing. */
  findBoolean(key: string): boolean | undefined {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "boolean") {
      throw invalidField(`${this.field}.${key}`, `must be true or false, not ${withArticle(node.kind)}`);
    }
    return node && this.textOf(node) === "true";
  }

  /** Nothing when it is missing. */
  findItems(key: string): readonly JsonNode[] {
    const node = this.find(key);
    if (node !== undefined && node.kind !== "array") {
      throw invalidField(`${this.field}.${key}`, `must be a list, not ${withArticle(node.kind)}`);
    }
    return node?.items ?? [];
  }

  /** Undefined when it is missing. */
  findObject(key: string): ObjectText | undefined {
    const node = this.find(key);
    return node && new ObjectText(this.text, `${this.field}.${key}`, node);
  }

  requireObject(key: string): ObjectText {
    const value = this.findObject(key);
    if (value === undefined) {
      throw invalidField(`${this.field}.${key}`, "is missing: give a JSON object");
    }
    return value;
  }

  /** The object itself as it was written. */
  get ownText(): string {
    return this.textOf(this.#node);
  }

  /** What was written. */
  textOf({ start, end }: JsonNode): string {
    return this.text.slice(start, end);
  }
}

/** Throws INVALID_ARGUMENT that names the field. */
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

export function withArticle(kind: JsonNode["kind"]): string {
  return kind === "null" ? "null" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}
