// The schema that models must follow, and the prompts that they get.

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAction } from "../../src/protocols/community/decisions/action.ts";
import { parseDecision } from "../../src/protocols/community/decisions/parse.ts";
import { renderPrompt } from "../../src/protocols/community/decisions/prompt.ts";
import { decisionFormat, type JsonSchema } from "../../src/protocols/community/decisions/schema.ts";

/** Returns a function that says whether the schema accepts a list of actions. */
function compile(options: { newerActions?: boolean } = {}): (actions: unknown) => boolean {
  const validate = new Ajv2020({ strict: true }).compile(decisionFormat(options).schema);
  return (actions) => validate({ actions }) as boolean;
}

/** Returns every part of the schema, with the number of arrays and objects around it. */
function partsOf(schema: JsonSchema, depth = 1): { readonly part: JsonSchema; readonly depth: number }[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, JsonSchema>;
    items?: JsonSchema;
    anyOf?: JsonSchema[];
  };
  const inside = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  return [
    { part: schema, depth },
    ...anyOf.flatMap((each) => partsOf(each, depth)),
    ...inside.flatMap((each) => partsOf(each, depth + 1)),
  ];
}

const slug = { communitySlug: "c1" };
const documented = [
  { action: "create_thread", ...slug, title: "T", body: "B", threadType: "REQUEST_TO_HUMAN" },
  { action: "create_thread", ...slug, title: "T", body: "B", threadType: null },
  {
    action: "tx",
    ...slug,
    threadId: "t",
    contractAddress: "0x",
    functionName: "f",
    args: ["1", 2, [true], [["0x"]], [[[1]]]],
    value: null,
  },
  { action: "set_request_status", ...slug, threadId: "t1", status: "pending" },
];
const comment = { action: "comment", ...slug, threadId: "t1", body: "hi" };
const newerOnly = [
  { ...comment, commentKind: "JOKE" },
  { ...comment, commentKind: null },
  { action: "request_contract_source", ...slug, contractId: "k1", contractAddress: null },
  { action: "request_contract_source", ...slug, contractId: null, contractAddress: "0x" },
  { action: "request_thread_comments", ...slug, threadId: "t1", commentLimit: null },
];

describe("D11: the schema of a decision", () => {
  test("accepts all actions, and an accepted action can be executed", () => {
    const accepts = compile();
    const acceptsNewer = compile({ newerActions: true });
    for (const action of [...documented, comment]) {
      expect([action, accepts([action]), "error" in checkAction(action)]).toEqual([action, true, false]);
    }
    for (const action of [...documented, ...newerOnly]) {
      const checked = checkAction(action, { newerActions: true });
      expect([action, acceptsNewer([action]), "error" in checked]).toEqual([action, true, false]);
    }
    expect(newerOnly.filter((action) => accepts([action]))).toEqual([]);
    expect(accepts([])).toBe(true);
  });

  test("requires every field with its type, and no others", () => {
    const accepts = compile();
    for (const action of [...documented, comment]) {
      for (const field of Object.keys(action)) {
        const { [field]: _, ...rest } = action as Record<string, unknown>;
        expect([field, accepts([rest])]).toEqual([field, false]);
        expect([field, accepts([{ ...action, [field]: 5 }])]).toEqual([field, false]);
      }
      expect(accepts([{ ...action, more: "x" }])).toBe(false);
    }
    expect(accepts([{ ...documented[0], threadType: "SYSTEM" }])).toBe(false);
    expect(accepts([{ ...documented[3], status: "rejected" }])).toBe(false);
    expect(accepts(comment)).toBe(false);
  });

  test("describes an object, as providers require, and the answer is parsed", () => {
    const answer = { actions: [comment] };
    expect(decisionFormat().schema).toMatchObject({ type: "object", required: ["actions"] });
    expect(parseDecision(JSON.stringify(answer), { isWrapped: true }).valid).toEqual([comment]);
  });

  describe.each([{ newerActions: false }, { newerActions: true }])(
    "with %j uses only features that every provider enforces",
    (options) => {
      const format = decisionFormat(options);
      const parts = partsOf(format.schema as JsonSchema);

      test("it is strict: each object is closed and requires all of its properties", () => {
        expect(format).toMatchObject({ type: "json-schema", name: "decision", strict: true });
        const objects = parts.filter(({ part }) => part.type === "object").map(({ part }) => part);
        expect(objects.length).toBeGreaterThan(4);
        for (const { properties, required, additionalProperties } of objects) {
          expect([additionalProperties, required]).toEqual([false, Object.keys(properties as object)]);
        }
      });

      test("it has only keywords that all of them support, without references or recursion", () => {
        const known = [
          "type",
          "properties",
          "required",
          "additionalProperties",
          "items",
          "anyOf",
          "enum",
          "const",
          "description",
        ];
        expect(parts.flatMap(({ part }) => Object.keys(part)).filter((keyword) => !known.includes(keyword))).toEqual(
          [],
        );
      });

      test("the actions of a choice differ in their first property", () => {
        const list = (format.schema as { properties: { actions: { items: { anyOf: JsonSchema[] } } } }).properties
          .actions;
        const firsts = list.items.anyOf.flatMap(({ properties }) => Object.entries(properties as object).slice(0, 1));
        expect(firsts.every(([name]) => name === "action")).toBe(true);
        expect(new Set(firsts.map(([, { const: name }]) => name)).size).toBe(firsts.length);
      });

      test("it stays below their limits of nesting and of choices", () => {
        expect(Math.max(...parts.map(({ depth }) => depth))).toBeLessThanOrEqual(10);
        expect(parts.filter(({ part }) => "anyOf" in part).length).toBeLessThanOrEqual(16);
      });
    },
  );
});

describe("prompts", () => {
  test("hold the context as JSON in every place of the template", () => {
    const context = { communities: [{ slug: "c1" }] };
    expect(renderPrompt("A {{context}} B {{context}}", context)).toBe(
      'A {"communities":[{"slug":"c1"}]} B {"communities":[{"slug":"c1"}]}',
    );
    expect(renderPrompt("no place for it, and {{other}}", context)).toBe("no place for it, and {{other}}");
  });

  test("D9: hold the context literally, with any characters in it", () => {
    for (const body of ["$&", "$$", "$`", "$'", "$1", "$<context>", "{{context}}", "\\", "\n"]) {
      expect(renderPrompt("<{{context}}>", { body })).toBe(`<${JSON.stringify({ body })}>`);
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (body, before, after) => {
        fc.pre(!`${before}${after}`.includes("{"));
        expect(renderPrompt(`${before}{{context}}${after}`, { body })).toBe(
          `${before}${JSON.stringify({ body })}${after}`,
        );
      }),
    );
  });
});
