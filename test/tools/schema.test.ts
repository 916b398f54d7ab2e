// Schemas of callers' tools: how arguments are checked, which schemas are invalid, and the limits on cost. Repairs of schemas:
// `mend-schema.test.ts`.

import { describe, expect, test } from "vitest";
import { type ArgumentsSchema, checkedBytesMax, readSchema } from "../../src/agent/tools/schema.ts";
import { printJson } from "../../src/platform/base/json/exact.ts";

const timeoutMs = 20_000;

function schemaOf(value: unknown): ArgumentsSchema {
  const schema = readSchema(typeof value === "string" ? value : JSON.stringify(value), timeoutMs);
  return "problem" in schema ? expect.fail(schema.problem) : schema;
}

describe("the model's schema", () => {
  test("is the schema as it was sent", () => {
    const parameters = {
      type: "object",
      properties: {
        id: { type: ["integer", "string"], minLength: 2, default: "x" },
        unit: { enum: [1, 2.5, null], description: "d" },
        any: { anyOf: [{ $ref: "#/$defs/a" }, { const: false }] },
      },
      $defs: { a: { type: "array", items: { type: "number" } } },
      required: ["id"],
      additionalProperties: false,
      "x-own": [],
    };
    expect(JSON.stringify(schemaOf(parameters).parameters)).toBe(JSON.stringify(parameters));
  });

  test("keeps all digits of its numbers, and arguments are checked as JavaScript reads them", () => {
    const id = '{"type":"integer","maximum":9223372036854775807}';
    const schema = schemaOf(`{"type":"object","properties":{"id":${id}}}`);
    expect(printJson(schema.parameters)).toBe(`{"type":"object","properties":{"id":${id}}}`);
    expect(schema.problems).toEqual([]);
    expect(schema.findProblem({ id: 1 })).toBeUndefined();
    expect(schema.findProblem({ id: 1e20 })).toContain("/id must be <= ");
  });

  test.each(["", " ", "[]", "{}"])("of %j is an object without properties", (text) => {
    expect(schemaOf(text).parameters).toEqual({ type: "object", properties: {} });
    expect(schemaOf(text).findProblem({ any: 1 })).toBeUndefined();
  });
});

describe("arguments", () => {
  const nested = { type: "object", properties: { a: { type: "array", items: { type: "integer", minimum: 3 } } } };
  const cases = [
    [nested, { a: [3, 2] }, "/a/1 must be >= 3 (#/properties/a/items/minimum)"],
    [nested, { a: "x" }, "/a must be array (#/properties/a/type)"],
    [{ required: ["q"] }, {}, "the arguments must have required property 'q' (#/required)"],
    [{ required: ["toString"] }, {}, "the arguments must have required property 'toString' (#/required)"],
    [
      { properties: {}, additionalProperties: false },
      { z: 1 },
      'the arguments must NOT have additional properties: "z" (#/additionalProperties)',
    ],
    [
      { properties: { u: { enum: ["a", "b"] } } },
      { u: "c" },
      '/u must be equal to one of the allowed values: ["a","b"] (#/properties/u/enum)',
    ],
    [
      { properties: { p: { type: "string", pattern: "^\\d{3}\\u0041$" } } },
      { p: "12A" },
      '/p must match pattern "^\\d{3}\\u0041$" (#/properties/p/pattern)',
    ],
  ] as const;

  test.each(cases)("of %j may not be %j", (schema, args, problem) => {
    expect(schemaOf(schema).findProblem(args)).toBe(`invalid arguments: ${problem}`);
  });

  test("that are valid have no problem, under any draft", () => {
    expect(schemaOf(nested).findProblem({ a: [3, 4] })).toBeUndefined();
    expect(schemaOf({ properties: { p: { pattern: "^\\d{3}\\u0041$" } } }).findProblem({ p: "123A" })).toBeUndefined();
    const tuple = { type: "array", items: [{ type: "string" }], additionalItems: false };
    const old = { $schema: "http://json-schema.org/draft-07/schema#", properties: { a: tuple } };
    expect(schemaOf(old).findProblem({ a: ["x"] })).toBeUndefined();
    expect(schemaOf(old).findProblem({ a: ["x", "y"] })).toMatch(/must NOT have more than 1 items/);
    const prefix = { prefixItems: [{ type: "string" }], items: false };
    const late = { $schema: "https://json-schema.org/draft/2020-12/schema", properties: { a: prefix } };
    expect(schemaOf(late).findProblem({ a: ["x", "y"] })).toMatch(/must NOT have more than 1 items/);
  });

  test.each([
    { type: "object", properties: { n: { type: "integer" }, child: { $ref: "#" } } },
    { type: "object", properties: { n: { type: "integer" }, child: { $ref: "#/" } } },
    { $defs: { N: { properties: { n: { type: "integer" }, child: { $ref: "#/$defs/N" } } } }, $ref: "#/$defs/N" },
  ])("are checked at every level of a recursive schema: %j", (schema) => {
    expect(schemaOf(schema).problems).toEqual([]);
    expect(schemaOf(schema).findProblem({ n: 1, child: { child: { n: 2 } } })).toBeUndefined();
    expect(schemaOf(schema).findProblem({ n: 1, child: { child: { n: "2" } } })).toMatch(
      /\/child\/child\/n must be integer/,
    );
  });

  test("are neither completed nor converted", () => {
    const args = { n: "1" };
    const schema = schemaOf({ properties: { n: { type: "integer" }, m: { default: 5 } } });
    expect(schema.findProblem(args)).toBe("invalid arguments: /n must be integer (#/properties/n/type)");
    expect(args).toEqual({ n: "1" });
  });

  test("a format is only an annotation", () => {
    expect(schemaOf({ properties: { m: { format: "email" } } }).findProblem({ m: "none" })).toBeUndefined();
  });

  test("of two schemas with the same id are kept apart", () => {
    const one = schemaOf({ $id: "https://a.example/s", properties: { n: { type: "integer" } } });
    const other = schemaOf({ $id: "https://a.example/s", properties: { n: { type: "string" } } });
    expect(one.findProblem({ n: 1 })).toBeUndefined();
    expect(other.findProblem({ n: 1 })).toMatch(/must be string/);
    expect(schemaOf({ properties: { n: { $ref: "https://a.example/s" } } }).findProblem({ n: true })).toBeUndefined();
  });
});

describe("an invalid schema is", () => {
  const invalid = "parameters must be a JSON Schema of an object";
  test.each([
    ["{", invalid, true],
    ["true", invalid, true],
    ["null", invalid, true],
    [`"{\\"type\\":\\"object\\"}"`, `${invalid}, and not a text that has one`, true],
    ["[1]", invalid, true],
    ['{"type":"array"}', 'parameters must be of an object, not of "array"', false],
    ['{"type":"strin"}', 'parameters must be of an object, not of "strin"', false],
    [`{"x":${"[".repeat(100)}${"]".repeat(100)}}`, "parameters are nested more than 64 levels deep", false],
  ])("%.60s", (text, problem, isInvalid) => {
    expect(readSchema(text, timeoutMs)).toEqual({ problem, isInvalid });
  });
});

describe("arguments are sent unchecked when a schema", () => {
  test.each([
    [
      "has a pattern that RE2 does not know",
      { properties: { a: { pattern: "(?=a)b" } } },
      /pattern "\(\?=a\)b": .*RE2/,
    ],
    ["names two parts alike", { $defs: { a: { $id: "x" }, b: { $id: "x", type: "string" } } }, /more than one schema/],
    ["is large", { properties: { a: { description: "x".repeat(checkedBytesMax) } } }, /\d{5} bytes \(max 65536\)/],
  ])("%s", (_, given, why) => {
    const schema = schemaOf(given);
    expect(schema.problems).toEqual([expect.stringMatching(/^arguments are not checked: /)]);
    expect(schema.problems[0]).toMatch(why);
    expect(schema.parameters).toEqual({ type: "object", properties: {}, ...given });
    expect(schema.findProblem({ a: 1 })).toBeUndefined();
  });
});

describe("the cost", () => {
  test("of a pattern is linear in the text, for any pattern", () => {
    const schema = schemaOf({ properties: { p: { pattern: "^(a+)+$" } } });
    const startMs = performance.now();
    expect(schema.findProblem({ p: `${"a".repeat(5_000)}b` })).toMatch(/must match pattern/);
    expect(performance.now() - startMs).toBeLessThan(400);
  });

  test("of references that double with every level is limited", () => {
    const levels = Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/l${level + 1}` };
      return [`l${level}`, { allOf: [next, next] }] as const;
    });
    const bomb = { $defs: { ...Object.fromEntries(levels), l40: {} }, $ref: "#/$defs/l0" };
    expect(schemaOf(bomb).findProblem({})).toMatch(/^invalid arguments: the check .* took longer than 500 ms$/);
  });

  test("of circular references is limited", () => {
    const self = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    expect(schemaOf(self).findProblem({ any: 1 })).toBeUndefined();
    const chain = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`l${n}`, { $ref: `#/$defs/l${(n + 1) % 1_000}` }]),
    );
    expect(schemaOf({ $defs: chain, properties: { a: { $ref: "#/$defs/l0" } } }).findProblem({ a: 1 })).toBeUndefined();
    const [a, b] = ["a", "b"].map((name) => ({ allOf: [{ $ref: `#/$defs/${name}` }] }));
    const circle = { $defs: { a: b, b: a }, properties: { a: { $ref: "#/$defs/a" } } };
    expect(schemaOf(circle).findProblem({ a: 1 })).toMatch(
      /^invalid arguments: the check against the schema of the tool failed/,
    );
  });

  test("of a compilation is limited; the next one has its own limit, also for the same schema", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`p${n}`, { type: "string", enum: [`${n}`] }]),
    );
    const text = JSON.stringify({ properties });
    const late = readSchema(text, 1);
    expect(late).toMatchObject({ problems: ["arguments are not checked: the schema takes too long to compile"] });
    expect(late).toMatchObject({ parameters: { type: "object", properties } });
    expect(schemaOf({ properties: { a: { type: "string" } } }).findProblem({ a: 1 })).toMatch(/must be string/);
    expect(schemaOf(text).findProblem({ p1: "2" })).toMatch(/must be equal to one of/);
  });

  test("is paid once for a schema that is used again", () => {
    const text = JSON.stringify({ properties: { once: { type: "string" } } });
    expect(readSchema(text, timeoutMs)).toBe(readSchema(text, 0));
  });
});
