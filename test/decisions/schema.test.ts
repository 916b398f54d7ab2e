// The schema that models are held to, and the prompts that they get.

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkAction } from "../../src/decisions/action.ts";
import { parseDecision } from "../../src/decisions/parse.ts";
import { renderPrompt } from "../../src/decisions/prompt.ts";
import { actionSchema, type JsonSchema } from "../../src/decisions/schema.ts";

function compile(schema: JsonSchema): (value: unknown) => boolean {
  return new Ajv2020({ strict: true }).compile(schema) as (value: unknown) => boolean;
}

const slug = { communitySlug: "c1" };
const documented = [
  { action: "create_thread", ...slug, title: "T", body: "B", threadType: "REQUEST_TO_HUMAN" },
  { action: "create_thread", ...slug, title: null, body: "B", threadType: null },
  {
    action: "tx",
    ...slug,
    threadId: "t",
    contractAddress: "0x",
    functionName: "f",
    args: ["1", 2, [true]],
    value: null,
  },
  { action: "set_request_status", ...slug, threadId: "t1", status: "pending" },
];
const comment = { action: "comment", ...slug, threadId: "t1", body: "hi" };
const newerOnly = [
  { ...comment, commentKind: "JOKE" },
  { ...comment, commentKind: null },
  { action: "request_contract_source", ...slug, contractId: "k1" },
  { action: "request_contract_source", ...slug, contractAddress: "0x" },
  { action: "request_thread_comments", ...slug, threadId: "t1", commentLimit: null },
];

describe("D11: the schema of a decision", () => {
  test("takes all actions, and what it takes can be executed", () => {
    const accepts = compile(actionSchema());
    const acceptsNewer = compile(actionSchema({ newerActions: true }));
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

  test("wants every field, each of its kind, and no others", () => {
    const accepts = compile(actionSchema());
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

  test("is one of an object for models that cannot answer with a list, and that answer is read", () => {
    const answer = { actions: [comment] };
    expect(compile(actionSchema({ isWrapped: true }))(answer)).toBe(true);
    expect(actionSchema({ isWrapped: true }).type).toBe("object");
    expect(parseDecision(JSON.stringify(answer), { isWrapped: true }).valid).toEqual([comment]);
  });

  test("of every object in it all members are required, as the strictest provider wants it", () => {
    const open: unknown[] = [];
    const visit = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) {
        return;
      }
      const { type, properties = {}, required, additionalProperties } = schema as JsonSchema;
      const names = Object.keys(properties as object);
      const isClosed = additionalProperties === false && JSON.stringify(required) === JSON.stringify(names);
      if (type === "object" && !isClosed) {
        open.push(schema);
      }
      Object.values(schema).forEach(visit);
    };
    visit(actionSchema({ newerActions: true, isWrapped: true }));
    expect(open).toEqual([]);
  });
});

describe("prompts", () => {
  test("hold the context as JSON wherever the template names it", () => {
    const context = { communities: [{ slug: "c1" }] };
    expect(renderPrompt("A {{context}} B {{context}}", context)).toBe(
      'A {"communities":[{"slug":"c1"}]} B {"communities":[{"slug":"c1"}]}',
    );
    expect(renderPrompt("no place for it, and {{other}}", context)).toBe("no place for it, and {{other}}");
  });

  test("D9: hold it literally, whatever others wrote into it", () => {
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
