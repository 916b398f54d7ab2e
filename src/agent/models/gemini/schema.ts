// Adapts the JSON Schema of a response: Gemini does not know `const`. Everything else is sent unchanged. Pure.

import { isObject } from "../../../platform/base/json/parse-object.ts";
import { asRecord } from "../wire/frame.ts";

/** Returns the schema with each `const` as an `enum` of one value, also in the schemas inside it. */
export function adaptSchema(schema: unknown): unknown {
  if (!isObject(schema)) {
    return schema;
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => adaptKeyword(keyword, value)));
}

function adaptKeyword(keyword: string, value: unknown): [keyword: string, value: unknown] {
  if (keyword === "const") {
    return ["enum", [value]];
  }
  if (mapsOfSchemas.has(keyword)) {
    return [
      keyword,
      Object.fromEntries(Object.entries(asRecord(value)).map(([name, each]) => [name, adaptSchema(each)])),
    ];
  }
  if (!schemas.has(keyword)) {
    return [keyword, value];
  }
  return [keyword, Array.isArray(value) ? value.map(adaptSchema) : adaptSchema(value)];
}

/** Keywords with a schema for each name. */
const mapsOfSchemas: ReadonlySet<string> = new Set(["properties", "$defs"]);

/** Keywords with one schema or a list of them. */
const schemas: ReadonlySet<string> = new Set(["items", "additionalProperties", "anyOf", "oneOf"]);
