// Converts clients' JSON Schemas to draft 2020-12, which providers accept: from older drafts, OpenAPI, and PHP's output for
// empty arrays, keys and type names. Everything that a provider understands stays as it is, in its order. Pure; the time grows
// with the size of the schema.
//
// Example: {"properties":{"id":{"type":"int","required":true}}}
//       → {"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}

import { isObject } from "../../platform/base/json/parse-object.ts";
import { SchemaReferences } from "./schema-references.ts";
import { eachSchema, type Fields, holderOf } from "./sub-schemas.ts";

type Schema = Fields | boolean;

/** Returns the mended schema, or undefined when no object can match it. `tell` gets each part left out, for an operator. */
export function mendParameters(given: Fields, tell: (problem: string) => void): Fields | undefined {
  const { nullable: _, ...shape } = given;
  const root = followTop(mendObject(shape));
  if (!takesObjects(root.type)) {
    return undefined;
  }
  // OpenAI and Anthropic require both `type` and `properties`.
  const typed: Fields = root.type === undefined ? { type: "object", ...root } : { ...root, type: "object" };
  const parameters = typed.properties === undefined ? { ...typed, properties: {} } : typed;
  dropDeadReferences(parameters, tell);
  dropBrokenPatterns(parameters, tell);
  return parameters;
}

function takesObjects(type: unknown): boolean {
  return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** Replaces a reference at the top, because providers require an object there. Keywords beside `$ref` win. */
function followTop(schema: Fields): Fields {
  if (typeof schema.$ref !== "string") {
    return schema;
  }
  const references = new SchemaReferences(schema);
  const seen = new Set<string>();
  const layers: Fields[] = [];
  let next: Fields | undefined = schema;
  while (typeof next?.$ref === "string") {
    const { $ref: reference, ...rest }: Fields & { $ref?: string } = next;
    layers.push(rest);
    const target: Fields | boolean | undefined =
      reference === undefined || seen.has(reference) ? undefined : references.find(reference);
    seen.add(reference ?? "");
    next = isObject(target) && target !== schema ? target : undefined;
  }
  return Object.fromEntries([...layers, next ?? {}].reverse().flatMap((layer) => Object.entries(layer)));
}

function dropDeadReferences(root: Fields, tell: (problem: string) => void): void {
  const references = new SchemaReferences(root);
  for (const schema of eachSchema(root)) {
    if (typeof schema.$ref === "string" && !references.hasEnd(schema.$ref)) {
      tell(`$ref ${JSON.stringify(schema.$ref)} points to no schema in this document: it was left out`);
      delete schema.$ref;
    }
  }
}

function dropBrokenPatterns(root: Fields, tell: (problem: string) => void): void {
  for (const schema of eachSchema(root)) {
    if (typeof schema.pattern === "string" && !isPattern(schema.pattern)) {
      tell(`pattern ${JSON.stringify(schema.pattern)} is not a regular expression: it was left out`);
      delete schema.pattern;
    }
  }
}

function isPattern(text: string): boolean {
  try {
    // The pattern is only parsed, never run.
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** Mends a schema. PHP writes `[]` for an empty object; any other invalid schema becomes empty and allows everything. */
function mendSchema(value: unknown): Schema {
  return typeof value === "boolean" ? value : mendObject(isObject(value) ? value : {});
}

function mendObject(given: Fields): Fields {
  const entries = Object.entries(given).flatMap(([keyword, value]) => {
    const mended = mendKeyword(keyword, value);
    return mended === undefined ? [] : [[keyword, mended] as const];
  });
  return mendNull(mendItems(mendBounds(addRequired(Object.fromEntries(entries), given.properties))));
}

function mendKeyword(keyword: string, value: unknown): unknown {
  switch (holderOf(keyword)) {
    case "schema":
      return keyword === "items" && Array.isArray(value) && value.length > 0
        ? value.map(mendSchema)
        : mendSchema(value);
    case "map":
      return mendMap(value);
    case "list":
      return mendList(value);
    case undefined:
      return Object.hasOwn(mends, keyword) ? mends[keyword]?.(value) : value;
  }
}

function mendMap(value: unknown): unknown {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, schema]) => [name, mendSchema(schema)]));
}

function mendList(value: unknown): unknown {
  const schemas = listOf(value).map(mendSchema);
  return schemas.length === 0 ? undefined : schemas;
}

/** Returns the elements of a list. PHP writes a list with gaps in its keys, as `array_filter` leaves them, as an object. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value];
}

/** The conversions of single keywords. Undefined removes the keyword. */
const mends: Readonly<Record<string, (value: unknown) => unknown>> = {
  // The result is always draft 2020-12.
  $schema: () => undefined,
  id: () => undefined,
  type: mendType,
  required: (value) => (typeof value === "boolean" ? undefined : namesIn(value)),
  enum: (value) => (listOf(value).length === 0 ? undefined : listOf(value)),
};

function namesIn(value: unknown): string[] {
  return [...new Set(listOf(value).filter((each) => typeof each === "string"))];
}

function mendType(value: unknown): unknown {
  const names = namesIn(value).map((name) => name.toLowerCase());
  const types = [...new Set(names.map((name) => typesByName.get(name) ?? (knownTypes.has(name) ? name : "string")))];
  if (types.length === 0 || names.some((name) => name === "any" || name === "mixed")) {
    return undefined;
  }
  return typeof value === "string" ? types[0] : types;
}

const knownTypes: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** The known type names of other languages. An unknown name becomes `string`, as in the Agent Runner document's service. */
const typesByName: ReadonlyMap<string, string> = new Map([
  ["int", "integer"],
  ["long", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["decimal", "number"],
  ["bool", "boolean"],
  ["list", "array"],
  ["dict", "object"],
  ["map", "object"],
]);

/** Moves `required: true` from properties to the list. Draft 03 and many programs write it in the property itself. */
function addRequired(schema: Fields, properties: unknown): Fields {
  const own = isObject(properties) ? Object.entries(properties) : [];
  const names = own.filter(([, each]) => isObject(each) && each.required === true).map(([name]) => name);
  return names.length === 0
    ? schema
    : { ...schema, required: [...new Set([...namesIn(schema.required ?? []), ...names])] };
}

/** Converts exclusive bounds. In draft 04 they are a flag beside the bound. */
function mendBounds(schema: Fields): Fields {
  return mendBound(mendBound(schema, "minimum", "exclusiveMinimum"), "maximum", "exclusiveMaximum");
}

function mendBound(schema: Fields, bound: string, exclusive: string): Fields {
  const { [exclusive]: flag, [bound]: limit, ...rest } = schema;
  if (typeof flag !== "boolean") {
    return schema;
  }
  return limit === undefined ? rest : { ...rest, [flag ? exclusive : bound]: limit };
}

/** Converts tuples, a list in `items` before 2020-12. OpenAI requires `items` in an array, and an object there. */
function mendItems(schema: Fields): Fields {
  const { items, additionalItems, ...rest } = schema;
  const tuple = Array.isArray(items) ? { ...rest, prefixItems: items, items: additionalItems ?? {} } : schema;
  if (tuple.type !== "array" && !(Array.isArray(tuple.type) && tuple.type.includes("array"))) {
    return tuple;
  }
  if (tuple.items !== false) {
    return isObject(tuple.items) ? tuple : { ...tuple, items: {} };
  }
  const lengthMax = Array.isArray(tuple.prefixItems) ? tuple.prefixItems.length : 0;
  const { maxItems } = tuple;
  return { ...tuple, items: {}, maxItems: typeof maxItems === "number" ? Math.min(maxItems, lengthMax) : lengthMax };
}

/** Converts OpenAPI 3.0's `nullable: true` to the type null. */
function mendNull(schema: Fields): Fields {
  const { nullable, ...rest } = schema;
  if (typeof nullable !== "boolean") {
    return schema;
  }
  if (!nullable || Object.keys(rest).length === 0) {
    return rest;
  }
  const isPlain = typeof rest.type === "string" && rest.enum === undefined && rest.const === undefined;
  if (isPlain) {
    return { ...rest, type: [rest.type, "null"] };
  }
  return Array.isArray(rest.type) && rest.type.includes("null") ? rest : { anyOf: [rest, { type: "null" }] };
}
