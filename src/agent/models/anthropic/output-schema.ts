// Adapts the schema of an answer. The service enforces few keywords and refuses the others, so those move into the descriptions, where
// the model reads them. It closes every object. Pure.

import { printJson } from "../../../platform/base/json/exact.ts";
import { asRecord } from "../wire/frame.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that stay as they are. */
const plainKeywords: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "title", "description", "default", "const", "enum", "type", "required"],
]);

/** Keywords with a schema by name. */
const namedKeywords: ReadonlySet<string> = new Set(["$defs", "definitions", "properties"]);

/** Keywords with a list of schemas, and their names at the service. */
const listKeywords: ReadonlyMap<string, string> = new Map([
  ["anyOf", "anyOf"],
  ["oneOf", "anyOf"],
  ["allOf", "allOf"],
]);

/** Formats of texts that the service enforces. */
const formats: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
]);

/** Keywords that are left out without a word: every object is closed in any case, and comments are for people. */
const silentKeywords: ReadonlySet<string> = new Set(["additionalProperties", "$comment", "$ref"]);

/** Returns the schema with the keywords that the service accepts. */
export function adaptOutputSchema(schema: object): object {
  const entries = Object.entries(schema);
  const { $ref } = asRecord(schema);
  if (typeof $ref === "string") {
    const definitions = entries.filter(([keyword]) => keyword === "$defs" || keyword === "definitions");
    return { $ref, ...adaptEntries(definitions) };
  }
  // The service has one choice a schema.
  const isSecond = (keyword: string): boolean => keyword === "oneOf" && "anyOf" in schema;
  const isKept = ([keyword, value]: [string, unknown]): boolean => isAccepted(keyword, value) && !isSecond(keyword);
  const left = entries.filter((entry) => !isKept(entry) && !silentKeywords.has(entry[0]));
  const accepted = adaptEntries(entries.filter(isKept));
  const isObject = accepted.type === "object" || accepted.properties !== undefined;
  return {
    ...accepted,
    ...(isObject && { additionalProperties: false }),
    ...(left.length > 0 && { description: describe(accepted.description, Object.fromEntries(left)) }),
  };
}

function isAccepted(keyword: string, value: unknown): boolean {
  return (
    plainKeywords.has(keyword) ||
    namedKeywords.has(keyword) ||
    listKeywords.has(keyword) ||
    keyword === "items" ||
    (keyword === "format" && formats.has(value))
  );
}

function adaptEntries(entries: readonly (readonly [string, unknown])[]): Schema {
  return Object.fromEntries(
    entries.map(([keyword, value]) => [listKeywords.get(keyword) ?? keyword, adaptValue(keyword, value)]),
  );
}

function adaptValue(keyword: string, value: unknown): unknown {
  if (namedKeywords.has(keyword)) {
    return Object.fromEntries(Object.entries(asRecord(value)).map(([name, each]) => [name, adaptAny(each)]));
  }
  return listKeywords.has(keyword) || keyword === "items" ? adaptAny(value) : value;
}

/** Adapts a schema or a list of them. A schema may also be true or false. */
function adaptAny(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(adaptAny);
  }
  return typeof value === "object" && value !== null ? adaptOutputSchema(value) : value;
}

function describe(description: unknown, keywords: object): string {
  const rule = `Must match this JSON Schema: ${printJson(keywords)}`;
  return typeof description === "string" && description !== "" ? `${description}\n${rule}` : rule;
}
