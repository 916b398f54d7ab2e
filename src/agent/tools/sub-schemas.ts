// Where a JSON Schema holds other schemas, by keyword. Property names and sample values never look like schemas this way.

export type Fields = Readonly<Record<string, unknown>>;

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

/** How the keyword holds schemas; undefined when it holds none. */
export function holderOf(keyword: string): Holder | undefined {
  return holders.get(keyword);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema and all schemas below it, outer ones first. Leaves out those that are only true or false. */
export function* eachSchema(schema: unknown): Generator<Record<string, unknown>> {
  if (!isFields(schema)) {
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
  const isHolder = holder === "list" ? Array.isArray(value) : holder === "map" && isFields(value);
  return isHolder ? Object.values(value as object) : [];
}
