// Forms by the schemas that servers write: of the arguments of a tool, and of a question to a person.

import { expect, test } from "vitest";
import { fieldsOf, initialTexts, textsOf, valuesOf } from "../../console/src/schema-form/fields.ts";

const schema = (properties: object, required: readonly string[] = []) =>
  JSON.stringify({ type: "object", properties, required });

/** Returns the arguments that these texts give. */
function send(inputSchema: string, texts: Readonly<Record<string, string>>): unknown {
  const { json, problems } = valuesOf(fieldsOf(inputSchema) ?? [], texts);
  return problems.size === 0 ? JSON.parse(json) : Object.fromEntries(problems);
}

test("each type of the schema has a field, and everything else is written as JSON", () => {
  const fields = fieldsOf(
    schema({
      name: { type: "string", description: "Who." },
      count: { type: "integer", default: 3 },
      level: { enum: ["low", 2, null] },
      exact: { type: "boolean", default: false },
      tags: { type: "array", default: ["a"] },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
      odd: true,
    }),
  );
  expect(fields?.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
    ["name", "text", ""],
    ["count", "number", "3"],
    ["level", "choice", ""],
    ["exact", "choice", "false"],
    ["tags", "json", '[\n  "a"\n]'],
    ["either", "json", ""],
    ["odd", "json", ""],
  ]);
  expect(fields?.[2]?.choices).toEqual({ low: '"low"', 2: "2", null: "null" });
});

test("choices have the words of the schema, whichever way it lists them, and a list of choices has several", () => {
  const titled = [
    { const: "a", title: "Alpha" },
    { const: "b", title: "Beta" },
  ];
  const fields = fieldsOf(
    schema({
      titled: { type: "string", title: "Letter", oneOf: titled, default: "b" },
      named: { type: "string", enum: ["a", "b"], enumNames: ["Alpha", "Beta"] },
      some: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      someTitled: { type: "array", items: { anyOf: titled }, default: ["a"] },
    }),
  );
  const words = { Alpha: '"a"', Beta: '"b"' };
  expect(fields?.map(({ label, kind, choices }) => [label, kind, choices])).toEqual([
    ["Letter", "choice", words],
    ["named", "choice", words],
    ["some", "choices", { a: '"a"', b: '"b"' }],
    ["someTitled", "choices", words],
  ]);
  const texts = { ...initialTexts(fields ?? []), named: '"a"', some: '["b"]' };
  expect(JSON.parse(valuesOf(fields ?? [], texts).json)).toEqual({
    ...{ titled: "b", named: "a", some: ["b"], someTitled: ["a"] },
  });
});

test("an empty text leaves an argument out, except a text that the schema wants", () => {
  const given = schema({ name: { type: "string" }, note: { type: "string" }, count: { type: "number" } }, ["name"]);
  expect(send(given, { name: "", note: "", count: "" })).toEqual({ name: "" });
  expect(send(given, { name: "1", note: " x\n", count: "1e2" })).toEqual({ name: "1", note: " x\n", count: 100 });
  expect(send(given, { name: "a", count: "1.2.3" })).toEqual({ count: "This is no number." });
  expect(send(schema({ level: { enum: [false, 0, ""] } }), { level: "false" })).toEqual({ level: false });
  expect(send(schema({ ["__proto__"]: { type: "string" } }), { ["__proto__"]: "x" })).toEqual(
    JSON.parse('{"__proto__":"x"}'),
  );
});

test("the fields and the JSON lead back to each other, unless the fields cannot show the JSON", () => {
  const fields = fieldsOf(schema({ name: { type: "string" }, tags: { type: "array" } })) ?? [];
  const texts = { ...initialTexts(fields), name: "n", tags: '["a"]' };
  const { json } = valuesOf(fields, texts);
  expect(valuesOf(fields, textsOf(fields, json) ?? {}).json).toBe(json);
  expect(textsOf(fields, '{"name":"n","more":1}')).toBeUndefined();
  expect(textsOf(fields, "[]")).toBeUndefined();
  expect(textsOf(fields, "{")).toBeUndefined();
});

test("a schema that does not list its properties gets no fields, and a broken one does no harm", () => {
  expect(fieldsOf('{"type":"object","oneOf":[{"required":["a"]}]}')).toBeUndefined();
  expect(fieldsOf('{"$ref":"#/$defs/a"}')).toBeUndefined();
  expect(fieldsOf('{"properties":[1]}')).toBeUndefined();
  expect(fieldsOf("no JSON")).toEqual([]);
  expect(fieldsOf('{"type":"object"}')).toEqual([]);
});
