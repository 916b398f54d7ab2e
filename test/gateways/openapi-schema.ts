// Just enough of JSON Schema to check a value against the OpenAPI document. An unknown keyword is a failure, so that none is
// skipped.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns every `$ref` in the document. */
export function findReferences(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, child]) =>
    key === "$ref" && typeof child === "string" ? [child] : findReferences(child),
  );
}

/** Returns the target of a reference of the document. */
export function lookUp(document: object, reference: string): unknown {
  const path = reference.replace(/^#\//, "").split("/");
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

/** Returns why a value does not match; undefined when it matches. A key that the schema does not name does not match either. */
export function findProblem(document: object, schema: JsonSchema, value: unknown, at = "$"): string | undefined {
  for (const [keyword, expected] of Object.entries(schema)) {
    const check = checks[keyword];
    const problem =
      check === undefined ? `unknown keyword ${keyword}` : check({ document, schema, expected, value, at });
    if (problem !== undefined) {
      return problem.startsWith("$") ? problem : `${at}: ${problem}`;
    }
  }
  return undefined;
}

interface Check {
  readonly document: object;
  readonly schema: JsonSchema;
  readonly expected: unknown;
  readonly value: unknown;
  readonly at: string;
}

const checks: Readonly<Record<string, (check: Check) => string | undefined>> = {
  $ref: ({ document, expected, value, at }) =>
    findProblem(document, lookUp(document, String(expected)) as JsonSchema, value, at),
  type: ({ expected, value }) => (typesOf(value).includes(String(expected)) ? undefined : `is no ${expected}`),
  enum: ({ expected, value }) => ((expected as unknown[]).includes(value) ? undefined : `is none of ${expected}`),
  properties: ({ document, expected, value, at }) => {
    for (const [key, child] of Object.entries(value as object)) {
      const schema = (expected as Record<string, JsonSchema>)[key];
      const problem =
        schema === undefined ? `${at}.${key}: unknown` : findProblem(document, schema, child, `${at}.${key}`);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  },
  required: ({ expected, value }) => {
    const missing = (expected as string[]).find((key) => !Object.hasOwn(value as object, key));
    return missing === undefined ? undefined : `${missing} is missing`;
  },
  items: ({ document, expected, value, at }) =>
    (value as unknown[])
      .map((item, index) => findProblem(document, expected as JsonSchema, item, `${at}[${index}]`))
      .find((problem) => problem !== undefined),
  format: ({ expected, value }) => {
    const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value));
    return expected === "date-time" && !isTime ? "is no time" : undefined;
  },
  contentEncoding: ({ expected, value }) => {
    const isBase64 = Buffer.from(String(value), "base64").toString("base64") === value;
    return expected === "base64" && isBase64 ? undefined : `is no ${expected}`;
  },
  exclusiveMinimum: ({ expected, value }) =>
    Number(value) > Number(expected) ? undefined : `is not above ${expected}`,
  minimum: ({ expected, value }) => (Number(value) >= Number(expected) ? undefined : `is less than ${expected}`),
  maximum: ({ expected, value }) => (Number(value) <= Number(expected) ? undefined : `is more than ${expected}`),
  minLength: ({ expected, value }) =>
    String(value).length >= Number(expected) ? undefined : `is shorter than ${expected}`,
  maxItems: ({ expected, value }) =>
    (value as unknown[]).length <= Number(expected) ? undefined : `has more than ${expected} items`,
  uniqueItems: ({ value }) => {
    const items = (value as unknown[]).map((item) => JSON.stringify(item));
    return new Set(items).size === items.length ? undefined : "has an item twice";
  },
  // The samples hold one text in every field.
  pattern: () => undefined,
  description: () => undefined,
  examples: () => undefined,
};

function typesOf(value: unknown): string[] {
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? ["number", "integer"] : ["number"];
    case "object":
      return [value === null ? "null" : Array.isArray(value) ? "array" : "object"];
    default:
      return [typeof value];
  }
}
