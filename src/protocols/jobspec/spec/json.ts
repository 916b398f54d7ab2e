// JSON as a signer meant it: a strict reader of received bytes that forgets nothing which matters to a signature.
// R1  Refused: bytes that are not UTF-8, a byte order mark, anything after the value, numbers beyond a float64, too deep nesting.
// R2  Of members with the same name the last one counts; names are compared as they read after decoding.
// R3  Half of a surrogate pair, which no UTF-8 can hold, reads as U+FFFD.
// R4  What reads otherwise than it was written (R2, R3, integers that a float64 cannot hold) is remarked.

import { type JsonNode, JsonTextError, jsonTextError, parseJsonText } from "../../../platform/base/json/text.ts";

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

/** Arrays and objects inside each other. Deeper ones are made by machines that mean no good. */
const depthMax = 512;

const remarksMax = 16;
/** Names may be as long as the body; what is told of them goes into answers. */
const remarkPathMax = 200;

/** Throws `JsonTextError`, which says what is wrong and where. */
export function readDocument(bytes: Uint8Array): ReadDocument {
  const text = decode(bytes);
  if (text.trim() === "") {
    throw new JsonTextError("the text is empty: a JSON object is expected");
  }
  // The limit of the body bounds the number of values.
  const root = parseJsonText(text, { depthMax, valuesMax: text.length });
  if (root.kind !== "object") {
    throw jsonTextError(text, root.start, "a JSON object is expected");
  }
  const reader = new Reader(text);
  const object = reader.readObject(root);
  const spans = new Map(
    root.members.map(({ key, value: { start, end } }) => [key.value.toWellFormed(), { start, end }]),
  );
  return { text, object, spans, remarks: reader.remarks };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonTextError("body is not UTF-8");
  }
}

/** Turns nodes into values and remarks what reads otherwise than it was written. */
class Reader {
  readonly remarks: Remark[] = [];
  readonly #text: string;
  /** The name or index at each depth, as far as the value that is being read. */
  readonly #path: (string | number)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  readObject({ members }: Extract<JsonNode, { kind: "object" }>): JsonObject {
    const object: JsonObject = new Map();
    for (const { key, value } of members) {
      const name = this.#readString(key);
      this.#path.push(name);
      const isDuplicate = object.has(name);
      object.set(name, this.#readValue(value));
      if (isDuplicate) {
        this.#remark("duplicate_key");
      }
      this.#path.pop();
    }
    return object;
  }

  #readValue(node: JsonNode): Json {
    switch (node.kind) {
      case "object":
        return this.readObject(node);
      case "array":
        return node.items.map((item, index) => {
          this.#path.push(index);
          const value = this.#readValue(item);
          this.#path.pop();
          return value;
        });
      case "string":
        return this.#readString(node);
      case "number":
        return this.#readNumber(node);
      case "boolean":
        return this.#text.startsWith("t", node.start);
      case "null":
        return null;
      default:
        return node satisfies never;
    }
  }

  #readString({ value }: Extract<JsonNode, { kind: "string" }>): string {
    if (value.isWellFormed()) {
      return value;
    }
    this.#remark("lone_surrogate");
    return value.toWellFormed();
  }

  #readNumber({ start, end }: JsonNode): number {
    const text = this.#text.slice(start, end);
    const value = Number(text);
    if (!Number.isFinite(value)) {
      throw jsonTextError(this.#text, start, "the number is too large for a float64");
    }
    if (text.length > safeDigits && isInexact(text, value)) {
      this.#remark("inexact_integer");
    }
    return value;
  }

  #remark(what: Remark["what"]): void {
    if (this.remarks.length < remarksMax) {
      const path = this.#path.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
      this.remarks.push({ what, path: path.slice(0, remarkPathMax).toWellFormed() });
    }
  }
}

/** Integers of fewer characters are exact. */
const safeDigits = 15;

function isInexact(text: string, value: number): boolean {
  return /^-?\d+$/.test(text) && BigInt(text) !== BigInt(value);
}
