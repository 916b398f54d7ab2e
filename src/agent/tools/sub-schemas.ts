// Finds the schemas inside a JSON Schema by keyword, so that property names and sample values are never taken for schemas.

import { isObject } from "../../platform/base/json/parse-object.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** How a keyword contains schemas: one, by name, or as a list. */
export type Holder = "schema" | "map" | "list";

const holders: ReadonlyMap<string, Holder> = new Map([
  ...keywords("schema", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items"),
  ...keywords("schema", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
  ...keywords("map", "$defs", "definitions", "dependentSchemas", "patternProperties", "properties"),
  ...keywords("list", "allOf", "anyOf", "oneOf", "prefixItems"),
]);

function keywords(holder: Holder, ...names: readonly string[]): [string, Holder][] {
  return names.map((name) => [name, holder]);
}

/** Returns how the keyword contains schemas, or undefined when it does not. */
export function holderOf(keyword: string): Holder | undefined {
  return holders.get(keyword);
}

/** Yields the schema and all schemas below it, outer ones first. Skips schemas that are only true or false. */
export function* eachSchema(schema: unknown): Generator<Record<string, unknown>> {
  if (!isObject(schema)) {
    return;
  }
  yield schema;
  for (const [keyword, value] of Object.entries(schema)) {
    for (const each of heldIn(keyword, value)) {
      yield* eachSchema(each);
    }
  }
}

function heldIn(keyword: string, value: unknown): readonly unknown[] {
  const holder = holderOf(keyword);
  if (holder === "schema") {
    return [value];
  }
  const isHolder = holder === "list" ? Array.isArray(value) : holder === "map" && isObject(value);
  return isHolder ? Object.values(value as object) : [];
}
