// Schemas of callers' tools: what they mean for arguments, what is no schema, and what costs too much.

import { describe, expect, test } from "vitest";
import { type ArgumentsSchema, readSchema, schemaBytesMax } from "../../src/tools/schema.ts";

const timeoutMs = 20_000;

function schemaOf(value: unknown): ArgumentsSchema {
  const schema = readSchema(typeof value === "string" ? value : JSON.stringify(value), timeoutMs);
  return "problem" in schema ? expect.fail(schema.problem) : schema;
}

function problemOf(value: unknown): string {
  const schema = readSchema(typeof value === "string" ? value : JSON.stringify(value), timeoutMs);
  return "problem" in schema ? schema.problem : expect.fail("it was taken");
}

describe("what the model is told", () => {
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

  test.each(["", " ", "[]", "{}"])("of %j is an object without properties", (text) => {
    expect(schemaOf(text).parameters).toEqual({ type: "object", properties: {} });
    expect(schemaOf(text).findProblem({ any: 1 })).toBeUndefined();
  });

  test("is an empty object where PHP wrote an empty array for one", () => {
    const sent = '{"type":"object","properties":[],"required":[]}';
    expect(schemaOf(sent).parameters).toEqual({ type: "object", properties: {}, required: [] });
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

  test("that are right have no problem, whatever the draft", () => {
    expect(schemaOf(nested).findProblem({ a: [3, 4] })).toBeUndefined();
    expect(schemaOf({ properties: { p: { pattern: "^\\d{3}\\u0041$" } } }).findProblem({ p: "123A" })).toBeUndefined();
    const tuple = { items: [{ type: "string" }], additionalItems: false };
    const old = { $schema: "http://json-schema.org/draft-07/schema#", properties: { a: tuple } };
    expect(schemaOf(old).findProblem({ a: ["x"] })).toBeUndefined();
    expect(schemaOf(old).findProblem({ a: ["x", "y"] })).toMatch(/must NOT have more than 1 items/);
    const prefix = { prefixItems: [{ type: "string" }], items: false };
    const late = { $schema: "https://json-schema.org/draft/2020-12/schema", properties: { a: prefix } };
    expect(schemaOf(late).findProblem({ a: ["x", "y"] })).toMatch(/must NOT have more than 1 items/);
  });

  test("are neither filled nor turned into other types", () => {
    const args = { n: "1" };
    const schema = schemaOf({ properties: { n: { type: "integer" }, m: { default: 5 } } });
    expect(schema.findProblem(args)).toBe("invalid arguments: /n must be integer (#/properties/n/type)");
    expect(args).toEqual({ n: "1" });
  });

  test("a format is a note", () => {
    expect(schemaOf({ properties: { m: { format: "email" } } }).findProblem({ m: "none" })).toBeUndefined();
  });

  test("of two schemas with the same id are kept apart", () => {
    const one = schemaOf({ $id: "https://a.example/s", properties: { n: { type: "integer" } } });
    const other = schemaOf({ $id: "https://a.example/s", properties: { n: { type: "string" } } });
    expect(one.findProblem({ n: 1 })).toBeUndefined();
    expect(other.findProblem({ n: 1 })).toMatch(/must be string/);
    expect(problemOf({ properties: { n: { $ref: "https://a.example/s" } } })).toMatch(/can't resolve reference/);
  });
});

describe("no schema is", () => {
  const invalid = "parameters are not a valid JSON Schema: ";
  test.each([
    ["{", "parameters must be a JSON Schema of an object"],
    ["true", "parameters must be a JSON Schema of an object"],
    ["[1]", "parameters must be a JSON Schema of an object"],
    ['{"type":"array"}', "parameters must be a JSON Schema of an object"],
    ['{"type":"strin"}', "parameters must be a JSON Schema of an object"],
    ['{"properties":{"a":{"type":"strin"}}}', `${invalid}parameters/properties/a/type must be`],
    ['{"properties":{"a":{"$ref":"http://127.0.0.1/"}}}', `${invalid}can't resolve reference http://127.0.0.1/`],
    ['{"properties":{"a":{"$ref":"#/$defs/none"}}}', `${invalid}can't resolve reference #/$defs/none`],
    ['{"$schema":"http://json-schema.org/draft-04/schema#"}', `${invalid}$schema "http://json-schema.org/draft-04/`],
    ['{"$schema":1}', `${invalid}$schema 1 is not known`],
    ['{"properties":{"a":{"pattern":"(?=a)b"}}}', `${invalid}pattern "(?=a)b": `],
    ['{"properties":{"a":{"pattern":"("}}}', `${invalid}pattern "(": `],
    [`{"x":${"[".repeat(100)}${"]".repeat(100)}}`, "parameters are nested more than 64 levels deep"],
    [JSON.stringify({ x: "x".repeat(schemaBytesMax) }), "parameters are too large: 65544 bytes (max 65536)"],
  ])("%.60s", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });
});

describe("cost", () => {
  test("of a pattern grows with the text, however it is written", () => {
    const schema = schemaOf({ properties: { p: { pattern: "^(a+)+$" } } });
    const startMs = performance.now();
    expect(schema.findProblem({ p: `${"a".repeat(5_000)}b` })).toMatch(/must match pattern/);
    expect(performance.now() - startMs).toBeLessThan(400);
  });

  test("of references that double with every level is cut", () => {
    const levels = Array.from({ length: 40 }, (_, level) => {
      const next = { $ref: `#/$defs/l${level + 1}` };
      return [`l${level}`, { allOf: [next, next] }] as const;
    });
    const bomb = { $defs: { ...Object.fromEntries(levels), l40: {} }, $ref: "#/$defs/l0" };
    expect(schemaOf(bomb).findProblem({})).toMatch(/^invalid arguments: to check them .* takes longer than 500 ms$/);
  });

  test("of a schema that refers to itself without end is an error", () => {
    const self = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    expect(problemOf(self)).toMatch(/Maximum call stack size exceeded/);
    const [a, b] = ["a", "b"].map((name) => ({ allOf: [{ $ref: `#/$defs/${name}` }] }));
    const circle = { $defs: { a: b, b: a }, $ref: "#/$defs/a" };
    expect(schemaOf(circle).findProblem({})).toMatch(/^invalid arguments: they could not be checked/);
  });

  test("of a compilation is cut, and the next schema is compiled as ever", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, n) => [`p${n}`, { type: "string", enum: [n] }]),
    );
    const schema = readSchema(JSON.stringify({ properties }), 1);
    expect(schema).toEqual({ problem: expect.stringMatching(/take too long to compile/) });
    expect(schemaOf({ properties: { a: { type: "string" } } }).findProblem({ a: 1 })).toMatch(/must be string/);
  });

  test("is paid once by a schema that comes again", () => {
    const text = JSON.stringify({ properties: { once: { type: "string" } } });
    expect(readSchema(text, timeoutMs)).toBe(readSchema(text, 0));
  });
});
