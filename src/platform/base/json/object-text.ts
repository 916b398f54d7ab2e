// JSON objects that arrive as text. They are read with the place of each member, and errors name the field that held the text.

import { invalidField } from "../fault.ts";
import { expectedNouns, type JsonKind, NodeReader } from "./member-reader.ts";
import { type JsonNode, JsonTextError, parseJsonText } from "./text.ts";

/** An object in a client's JSON text. Its readers throw INVALID_ARGUMENT when a member has the wrong type. */
export class ObjectText extends NodeReader<ObjectText> {
  /** Throws INVALID_ARGUMENT when the key is missing or empty. */
  override requireText(key: string): string {
    return super.requireText(key) || this.refuse(key, "string");
  }

  protected override open(node: JsonNode, path: string): ObjectText {
    return new ObjectText(this.text, node, path);
  }

  protected override wrong(path: string, expected: JsonKind, found: JsonNode): Error {
    const noun = expected === "object" ? "a JSON object" : expectedNouns[expected];
    return invalidField(path, `must be ${noun}, not ${withArticle(found.kind)}`);
  }

  protected override missing(path: string, expected: JsonKind): Error {
    return invalidField(
      path,
      `is missing: give ${expected === "object" ? "a JSON object" : "a string that is not empty"}`,
    );
  }
}

/** Parses the text of a JSON object. Throws INVALID_ARGUMENT with the name of the field. */
export function readObjectText(text: string, field: string): ObjectText {
  try {
    return new ObjectText(text, parseJsonText(text), field);
  } catch (error) {
    if (error instanceof JsonTextError) {
      throw invalidField(field, `must be a JSON object: ${error.message}`);
    }
    throw error;
  }
}

/** Returns the kind with its article, for error messages: `an object`, `a string`, `null`. */
export function withArticle(kind: JsonKind): string {
  return kind === "null" ? "null" : `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}
