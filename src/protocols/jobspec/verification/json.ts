// Reads JSON as its signer meant it: strict, from the received bytes, and without losing anything that matters to a signature.
// R1  Refused are bytes that are not UTF-8, a byte order mark, anything after the value, numbers beyond a float64, and nesting
//     that is too deep.
// R2  Of members with the same name the last one counts. Names are compared after decoding.
// R3  Half of a surrogate pair, which UTF-8 cannot encode, reads as U+FFFD.
// R4  A remark notes each value that reads otherwise than it was written (R2, R3, integers that a float64 cannot hold).

import { type JsonNode, JsonTextError, jsonTextError, parseJsonText } from "../../../platform/base/json/text.ts";

/** A JSON value. Objects keep the order of their members: no prototype, no special order for names that look like numbers. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = Map<string, Json>;

/** The place of a value in the text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A note about a value that reads otherwise than it was written. */
export interface Remark {
  readonly what: "duplicate_key" | "lone_surrogate" | "inexact_integer";
  /** As in RFC 6901: `/constraints/regions/0`. Cut after 200 characters. */
  readonly path: string;
}

/** A JSON object with the text from which it was read. */
export interface ReadDocument {
  readonly text: string;
  readonly object: JsonObject;
  /** The places of the values of the outermost members. */
  readonly spans: ReadonlyMap<string, Span>;
  /** The first 16 remarks. */
  readonly remarks: readonly Remark[];
}

/** The maximum depth of arrays and objects inside each other. Deeper texts come from attackers. */
const depthMax = 512;

const remarksMax = 16;
/** The maximum length of a remark's path, because remarks go into answers and names may be as long as the body. */
const remarkPathMax = 200;

/** Reads one JSON object. Throws a `JsonTextError` that names the problem and its place. */
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

/** Returns true for a JSON object. */
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

/** Turns nodes into values, and adds a remark for each value that reads otherwise than it was written. */
class Reader {
  readonly remarks: Remark[] = [];
  readonly #text: string;
  /** The name or index at each depth, down to the value that is being read. */
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

/** Integers of at most this many characters are exact. */
const safeDigits = 15;

function isInexact(text: string, value: number): boolean {
  return /^-?\d+$/.test(text) && BigInt(text) !== BigInt(value);
}
