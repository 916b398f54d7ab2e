// The body of a signed write: parsed once by the service's own parser, and hashed in a form that does not depend on its
// formatting.
//
// B1  Members are in the order of their names' UTF-16 code units, without white space; the last of duplicate members counts.
// B2  Strings and numbers are printed as JSON.stringify prints them: half of a surrogate pair as an escape, -0 as 0, a number
//     beyond a float64 as null.
// B3  Every JSON text has such a form. JobSpecs have a different form, which sorts by code points: the two are never the same.
//
// Node's own JSON.parse is not used for whole bodies: it can mix up names that have escapes in them (nodejs/node#63785).

import { createHash } from "node:crypto";
import { memberOf } from "../../../../platform/base/json/free.ts";
import { type JsonNode, joinPrinted, parseJsonText } from "../../../../platform/base/json/text.ts";

/** A parsed JSON body with its stable text and hash. */
export class SignedBody {
  readonly #text: string;
  readonly #node: JsonNode;

  private constructor(text: string) {
    this.#text = text;
    this.#node = parseJsonText(text);
  }

  /**
   * Parses bytes. Invalid UTF-8 reads as U+FFFD, as in every browser and server that implements fetch.
   * @throws JsonTextError when the text is not JSON.
   */
  static read(bytes: Uint8Array): SignedBody {
    return new SignedBody(new TextDecoder().decode(bytes));
  }

  /**
   * Parses a text.
   * @throws JsonTextError when the text is not JSON.
   */
  static of(text: string): SignedBody {
    return new SignedBody(text);
  }

  /** SHA-256 of the stable text, in lower-case hexadecimal digits. */
  get hash(): string {
    return createHash("sha256").update(this.stableText).digest("hex");
  }

  get stableText(): string {
    return stringify(this.#node, this.#text);
  }

  /** Returns a member as trimmed text. Returns an empty text when it is missing, 0, or neither text nor number. */
  textOf(name: string): string {
    const node = memberOf(this.#node, name);
    switch (node?.kind) {
      case "string":
        return node.value.trim().toWellFormed();
      case "number":
        return String(Number(this.#text.slice(node.start, node.end)) || "");
      default:
        return "";
    }
  }

  /** Returns a boolean member. Returns undefined when it is neither true nor false. */
  flagOf(name: string): boolean | undefined {
    const node = memberOf(this.#node, name);
    return node?.kind === "boolean" ? this.#text.startsWith("true", node.start) : undefined;
  }
}

/**
 * Returns the stable text of a value, such as `{"a":1,"b":2}` for `{b: 2, a: 1}`. The value goes through JSON first, so that
 * the hash covers the sent text: an undefined member or a Date would otherwise hash as a text that is never sent.
 */
export function stableStringify(value: unknown): string {
  return SignedBody.of(JSON.stringify(value) ?? "null").stableText;
}

function stringify(node: JsonNode, text: string): string {
  switch (node.kind) {
    case "object": {
      const members = new Map(node.members.map(({ key, value }) => [key.value, value]));
      const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1));
      return `{${joinPrinted(sorted.map(([name, value]) => `${JSON.stringify(name)}:${stringify(value, text)}`))}}`;
    }
    case "array":
      return `[${joinPrinted(node.items.map((item) => stringify(item, text)))}]`;
    case "string":
      return JSON.stringify(node.value);
    case "number":
      return JSON.stringify(Number(text.slice(node.start, node.end)));
    case "boolean":
    case "null":
      return text.slice(node.start, node.end);
    default:
      return node satisfies never;
  }
}
