// The body of a signed write: read once, by a reader of our own, and hashed in the form that does not depend on how it was
// written.
//
// B1  Members are in the order of their names' UTF-16 code units, without white space; of twins the last one counts.
// B2  Strings and numbers are printed as JSON.stringify prints them: half of a surrogate pair as an escape, -0 as 0, what is
//     beyond a float64 as null.
// B3  Every JSON text has such a form. JobSpecs have another one, which sorts by code points: the two are never the same thing.
//
// Node's own JSON.parse is not used for whole bodies: it can mix up names that have escapes in them (nodejs/node#63785).

import { createHash } from "node:crypto";
import { memberOf } from "../../../../platform/base/json/free.ts";
import { type JsonNode, parseJsonText } from "../../../../platform/base/json/text.ts";

export class SignedBody {
  readonly #text: string;
  readonly #node: JsonNode;

  private constructor(text: string) {
    this.#text = text;
    this.#node = parseJsonText(text);
  }

  /** Bytes that are no UTF-8 read as U+FFFD, as in every browser and server that speaks fetch. Throws JsonTextError. */
  static read(bytes: Uint8Array): SignedBody {
    return new SignedBody(new TextDecoder().decode(bytes));
  }

  /** Throws JsonTextError. */
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

  /** A member as text, trimmed; empty when there is none, when it is 0, and when it is neither text nor number. */
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

  /** Undefined when the member is neither true nor false. */
  flagOf(name: string): boolean | undefined {
    const node = memberOf(this.#node, name);
    return node?.kind === "boolean" ? this.#text.startsWith("true", node.start) : undefined;
  }
}

/**
 * The stable text of a value as a signer holds it. It goes through JSON first, so that what is hashed is what is sent: a member
 * that is undefined, or a Date, would else hash as something that nobody receives.
 */
export function stableStringify(value: unknown): string {
  return SignedBody.of(JSON.stringify(value) ?? "null").stableText;
}

function stringify(node: JsonNode, text: string): string {
  switch (node.kind) {
    case "object": {
      const members = new Map(node.members.map(({ key, value }) => [key.value, value]));
      const sorted = [...members].sort(([one], [other]) => (one < other ? -1 : 1));
      return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${stringify(value, text)}`).join(",")}}`;
    }
    case "array":
      return `[${node.items.map((item) => stringify(item, text)).join(",")}]`;
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
