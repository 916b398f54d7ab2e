// Callers' schemas as models get them: JSON Schema draft 2020-12 of an object, which every provider accepts.

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { readSchema } from "../../src/agent/tools/schema.ts";

type Fields = Readonly<Record<string, unknown>>;

function read(given: object): { readonly parameters: object; readonly problems: readonly string[] } {
  const schema = readSchema(JSON.stringify(given), 20_000);
  return "problem" in schema ? expect.fail(schema.problem) : schema;
}

/** The repaired form of a property `a`. */
function mend(a: unknown): unknown {
  const { parameters, problems } = read({ type: "object", properties: { a } });
  expect(problems).toEqual([]);
  return (parameters as { properties: Fields }).properties.a;
}

const judge = new Ajv2020({ strict: false, logger: false, validateFormats: false });

describe("a property", () => {
  test.each<[unknown, unknown]>([
    // From PHP: empty arrays, lists with gaps, PHP's type names.
    [[], {}],
    [
      { type: "array", items: [] },
      { type: "array", items: {} },
    ],
    [
      { type: "object", properties: [], additionalProperties: [] },
      { type: "object", properties: {}, additionalProperties: {} },
    ],
    [{ type: "string", enum: [] }, { type: "string" }],
    [
      { type: "string", enum: { 1: "x", 3: "y" } },
      { type: "string", enum: ["x", "y"] },
    ],
    [{ type: "int" }, { type: "integer" }],
    [{ type: "double" }, { type: "number" }],
    [{ type: "float" }, { type: "number" }],
    [{ type: "bool" }, { type: "boolean" }],
    [{ type: "NULL" }, { type: "null" }],
    [{ type: "STRING" }, { type: "string" }],
    [{ type: "date" }, { type: "string" }],
    [{ type: "mixed", description: "d" }, { description: "d" }],
    [{ type: [] }, {}],
    [{ type: null }, {}],
    [{ type: ["int", "integer", "null"] }, { type: ["integer", "null"] }],
    // From OpenAPI.
    [
      { type: "string", nullable: true, minLength: 2 },
      { type: ["string", "null"], minLength: 2 },
    ],
    [{ type: "string", nullable: false }, { type: "string" }],
    [{ type: "string", enum: ["x"], nullable: true }, { anyOf: [{ type: "string", enum: ["x"] }, { type: "null" }] }],
    [{ type: ["string", "null"], nullable: true }, { type: ["string", "null"] }],
    [{ nullable: true }, {}],
    // From older drafts.
    [
      { type: "integer", minimum: 3, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: "integer", exclusiveMinimum: 3, maximum: 9 },
    ],
    [
      { type: "array", items: [{ type: "int" }, []] },
      { type: "array", prefixItems: [{ type: "integer" }, {}], items: {} },
    ],
    [
      { type: "array", items: [{ type: "string" }], additionalItems: false },
      { type: "array", prefixItems: [{ type: "string" }], items: {}, maxItems: 1 },
    ],
    [
      { type: "array", items: [{}], additionalItems: { type: "int" } },
      { type: "array", prefixItems: [{}], items: { type: "integer" } },
    ],
    // OpenAI refuses an array without items, and items that are not an object.
    [{ type: "array" }, { type: "array", items: {} }],
    [
      { type: ["array", "null"], items: true },
      { type: ["array", "null"], items: {} },
    ],
    [
      { type: "array", prefixItems: [{}, {}], items: false, maxItems: 1 },
      { type: "array", prefixItems: [{}, {}], items: {}, maxItems: 1 },
    ],
    // An invalid schema becomes an empty one.
    ["string", {}],
    [null, {}],
    [{ anyOf: [] }, {}],
  ])("%j becomes %j", (given, sent) => {
    expect(JSON.stringify(mend(given))).toBe(JSON.stringify(sent));
  });

  test.each<[unknown]>([
    [{ type: ["integer", "string"], minLength: 2, default: { required: true, type: "int", items: [] } }],
    [{ enum: [1, 2.5, null, { type: "int" }], const: [], examples: [[], { nullable: true }] }],
    [{ anyOf: [{ type: "integer", format: "int64" }, { const: false }], title: "t", deprecated: true, "x-own": [] }],
    [{ type: "object", properties: { required: { type: "string" }, type: { type: "integer" }, items: true } }],
    [{ type: "array", prefixItems: [{ type: "string" }], items: { not: {} }, minItems: 1, uniqueItems: true }],
    [{ type: "string", pattern: "^(a+)+$", contentEncoding: "base64", $comment: "c" }],
    [{ type: "object", properties: { ["__proto__"]: { type: "string" } }, additionalProperties: false }],
    [{ if: { type: "string" }, else: true, dependentRequired: { a: ["b"] } }],
  ])("that a provider understands is unchanged: %j", (given) => {
    expect(JSON.stringify(mend(given))).toBe(JSON.stringify(given));
  });
});

describe("parameters", () => {
  test.each<[Fields, Fields]>([
    [{ properties: { a: {} } }, { type: "object", properties: { a: {} } }],
    [
      { type: ["object", "null"], properties: {} },
      { type: "object", properties: {} },
    ],
    [
      { type: "OBJECT", nullable: true },
      { type: "object", properties: {} },
    ],
    [{ $ref: "#" }, { type: "object", properties: {} }],
    [
      { $defs: { N: { properties: { n: { $ref: "#/$defs/N" } } } }, $ref: "#/$defs/N" },
      {
        type: "object",
        properties: { n: { $ref: "#/$defs/N" } },
        $defs: { N: { properties: { n: { $ref: "#/$defs/N" } } } },
      },
    ],
    [
      { $schema: "http://json-schema.org/draft-04/schema#", id: "http://a.example/", type: "object", properties: {} },
      { type: "object", properties: {} },
    ],
    [
      { $schema: "https://json-schema.org/draft/2019-09/schema", type: "object", properties: {} },
      { type: "object", properties: {} },
    ],
    [
      { $schema: 1, type: "object", properties: {} },
      { type: "object", properties: {} },
    ],
    [
      { properties: { a: { required: true }, b: { required: false }, c: { type: "object", required: ["d"] } } },
      { type: "object", properties: { a: {}, b: {}, c: { type: "object", required: ["d"] } }, required: ["a"] },
    ],
    [
      { type: "object", properties: { a: { required: true } }, required: ["b", "b", "a", 3] },
      { type: "object", properties: { a: {} }, required: ["b", "a"] },
    ],
    [
      { type: "object", properties: {}, required: { 0: "a", 2: "b" } },
      { type: "object", properties: {}, required: ["a", "b"] },
    ],
    [
      { type: "object", properties: {}, required: "a" },
      { type: "object", properties: {}, required: ["a"] },
    ],
    [
      { type: "object", properties: [], required: [] },
      { type: "object", properties: {}, required: [] },
    ],
  ])("%j become %j", (given, sent) => {
    expect(read(given)).toMatchObject({ parameters: sent, problems: [] });
    expect(read(given).parameters).toEqual(sent);
  });

  test.each<[unknown, unknown, RegExp]>([
    [{ type: "string", minLength: "3" }, { type: "string" }, /minLength must be integer: it was left out$/],
    [{ type: "string", description: 5 }, { type: "string" }, /description must be string: it was left out$/],
    [{ dependentRequired: { b: ["c", 1] } }, { dependentRequired: {} }, /must be string: it was left out$/],
    [{ anyOf: [{ minItems: -1 }, { title: "t" }] }, { anyOf: [{}, { title: "t" }] }, /minItems must be >= 0/],
    [{ type: "string", pattern: "(" }, { type: "string" }, /pattern "\(" is not a regular expression/],
    [{ $ref: "http://127.0.0.1:1/x.json" }, {}, /"http:.* points to no schema in this document: it was left out$/],
    [{ $ref: "#/$defs/none", description: "d" }, { description: "d" }, /"#\/\$defs\/none" points to no schema/],
    [{ $ref: "#/properties/a" }, {}, /points to no schema/],
  ])("lose what no provider supports: %j", (a, sent, problem) => {
    const { parameters, problems } = read({ type: "object", properties: { a } });
    expect(parameters).toEqual({ type: "object", properties: { a: sent } });
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test.each<[string]>([["#/$defs/a~1b%20c"], ["#name"], ["https://a.example/s"]])(
    "keep a reference into themselves: %s",
    ($ref) => {
      const given = {
        type: "object",
        properties: { a: { $ref } },
        $defs: { "a/b c": { $anchor: "name", type: "string" }, s: { $id: "https://a.example/s" } },
      };
      expect(read(given)).toMatchObject({ parameters: given, problems: [] });
    },
  );
});

test("any property gives the model a valid schema of an object", () => {
  const odd = [
    undefined,
    null,
    true,
    0,
    -1,
    "x",
    "int",
    [],
    ["x"],
    [[]],
    {},
    { x: [] },
    [{ type: [] }],
    { a: { a: 1 } },
  ];
  const keywords = [
    ...[
      "type",
      "required",
      "enum",
      "const",
      "items",
      "properties",
      "anyOf",
      "allOf",
      "additionalProperties",
      "pattern",
    ],
    ...["minimum", "exclusiveMinimum", "maxItems", "nullable", "$ref", "$id", "$schema", "$defs", "definitions", "id"],
    ...["not", "if", "contains", "prefixItems", "dependentRequired", "format", "title", "$anchor", "patternProperties"],
  ];
  for (const keyword of keywords) {
    for (const beside of [{}, { type: "array", nullable: true }]) {
      const properties = Object.fromEntries(odd.map((value, n) => [`p${n}`, { ...beside, [keyword]: value }]));
      const { parameters } = read({ properties });
      expect.soft(judge.validateSchema(parameters), JSON.stringify(parameters)).toBe(true);
      expect.soft(parameters).toMatchObject({ type: "object", properties: { p0: {}, p1: {} } });
    }
  }
});
