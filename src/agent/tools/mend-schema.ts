// JSON Schemas as callers write them, turned into draft 2020-12, which is what providers take: older drafts, OpenAPI, and
// what PHP makes of empty arrays, keys and type names. What a provider understands stays as it is, in its order. Pure; the
// time it takes grows with the size of the schema.
//
// Example: {"properties":{"id":{"type":"int","required":true}}}
//       → {"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}

import { SchemaReferences } from "./schema-references.ts";
import { eachSchema, type Fields, holderOf, isFields } from "./sub-schemas.ts";

type Schema = Fields | boolean;

/** Returns undefined for a schema that no object fits. Tells what it had to leave out, in words for an operator. */
export function mendParameters(given: Fields, tell: (problem: string) => void): Fields | undefined {
  const { nullable: _, ...shape } = given;
  const root = followTop(mendObject(shape));
  if (!takesObjects(root.type)) {
    return undefined;
  }
  // OpenAI and Anthropic want both.
  const typed: Fields = root.type === undefined ? { type: "object", ...root } : { ...root, type: "object" };
  const parameters = typed.properties === undefined ? { ...typed, properties: {} } : typed;
  dropDeadReferences(parameters, tell);
  dropBrokenPatterns(parameters, tell);
  return parameters;
}

function takesObjects(type: unknown): boolean {
  return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** Providers want an object at the top, not a reference to one. Where both have a keyword, the one beside `$ref` counts. */
function followTop(schema: Fields): Fields {
  const references = new SchemaReferences(schema);
  const seen = new Set<string>();
  let top = schema;
  while (typeof top.$ref === "string" && !seen.has(top.$ref)) {
    const { $ref, ...rest } = top;
    seen.add($ref);
    const target = references.find($ref);
    top = isFields(target) && target !== schema ? { ...target, ...rest } : rest;
  }
  const { $ref, ...rest } = top;
  return typeof $ref === "string" ? rest : top;
}

function dropDeadReferences(root: Fields, tell: (problem: string) => void): void {
  const references = new SchemaReferences(root);
  for (const schema of eachSchema(root)) {
    if (typeof schema.$ref === "string" && !references.hasEnd(schema.$ref)) {
      tell(`$ref ${JSON.stringify(schema.$ref)} leads to no schema inside: it was left out`);
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
    // Only parsed: it never runs.
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** PHP writes `[]` for an empty object. Anything else that is no schema says nothing. */
function mendSchema(value: unknown): Schema {
  return typeof value === "boolean" ? value : mendObject(isFields(value) ? value : {});
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
  const entries = isFields(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, schema]) => [name, mendSchema(schema)]));
}

function mendList(value: unknown): unknown {
  const schemas = listOf(value).map(mendSchema);
  return schemas.length === 0 ? undefined : schemas;
}

/** PHP writes a list whose keys have gaps, as `array_filter` leaves them, as an object. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : isFields(value) ? Object.values(value) : [value];
}

/** What becomes of the value of a keyword; undefined leaves the keyword out. */
const mends: Readonly<Record<string, (value: unknown) => unknown>> = {
  // The result is of draft 2020-12, whatever this said.
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

/** An unknown one is a string, as in the Agent Runner document's service. */
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

/** Draft 03 and many programs say `required: true` in the property itself. */
function addRequired(schema: Fields, properties: unknown): Fields {
  const own = isFields(properties) ? Object.entries(properties) : [];
  const names = own.filter(([, each]) => isFields(each) && each.required === true).map(([name]) => name);
  return names.length === 0
    ? schema
    : { ...schema, required: [...new Set([...namesIn(schema.required ?? []), ...names])] };
}

/** In draft 04 an exclusive bound is a flag beside the bound. */
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

/** Before 2020-12 a tuple was a list of `items`. OpenAI refuses an array without `items`, and `items` that are no object. */
function mendItems(schema: Fields): Fields {
  const { items, additionalItems, ...rest } = schema;
  const tuple = Array.isArray(items) ? { ...rest, prefixItems: items, items: additionalItems ?? {} } : schema;
  if (tuple.type !== "array" && !(Array.isArray(tuple.type) && tuple.type.includes("array"))) {
    return tuple;
  }
  if (tuple.items !== false) {
    return isFields(tuple.items) ? tuple : { ...tuple, items: {} };
  }
  const lengthMax = Array.isArray(tuple.prefixItems) ? tuple.prefixItems.length : 0;
  const { maxItems } = tuple;
  return { ...tuple, items: {}, maxItems: typeof maxItems === "number" ? Math.min(maxItems, lengthMax) : lengthMax };
}

/** OpenAPI 3.0 says `nullable: true` where JSON Schema has the type null. */
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
