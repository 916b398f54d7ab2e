// Messages and pieces of messages as runners write them: no part of them is lost.
//
// G1  The fields hold the whole message, or `source` has its exact text.
// G2  The fields hold the whole chunk, or `source` has its exact JSON without the text.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessageChunkSchema, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { compactJson, parseJsonText } from "../../../src/platform/base/json/text.ts";
import { Members } from "../../../src/protocols/langbot/runners/results/members.ts";
import { readChunk, readMessage } from "../../../src/protocols/langbot/runners/results/message.ts";
import { messageJson } from "../../../src/protocols/langbot/runners/results/message-json.ts";
import { anyJson } from "../../harness/json-value.ts";

/** Includes unpaired surrogates: JSON can write them. */
const anyText = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: "binary", maxLength: 20 }), halves());
const object = fc.dictionary(fc.string({ maxLength: 5 }).filter(isSafeName), anyJson({ maxDepth: 2 }), { maxKeys: 3 });
const more = fc.option(anyJson({ maxDepth: 2 }), { nil: undefined });

function optional<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> {
  return fc.oneof(values, fc.constantFrom(null, undefined));
}

const element = fc.record({
  type: fc.oneof(fc.constantFrom("text", "image_url", "sticker"), anyText),
  text: optional(anyText),
  image_url: optional(fc.oneof(anyText, fc.record({ url: anyText, detail: more }))),
  image_base64: optional(anyText),
  file_url: optional(anyText),
  file_base64: optional(anyText),
  file_name: optional(anyText),
  width: more,
});
const call = fc.record({
  id: anyText,
  type: optional(fc.oneof(fc.constant("function"), anyText)),
  function: fc.record({ name: anyText, arguments: anyText, strict: more }),
  provider_specific_fields: optional(object),
  index: more,
});
const shared = {
  role: fc.oneof(fc.constantFrom("user", "assistant"), fc.string({ minLength: 1, maxLength: 9 }).filter(isLabelLike)),
  content: optional(fc.oneof(anyText, fc.array(element, { maxLength: 3 }))),
  tool_calls: optional(fc.array(call, { maxLength: 2 })),
  provider_specific_fields: optional(object),
  name: optional(anyText),
  tool_call_id: optional(anyText),
  resp_message_id: optional(anyText),
  mood: more,
};
const anyMessage = fc.record(shared);
const anyChunk = fc.record({
  ...shared,
  all_content: optional(anyText),
  is_final: optional(fc.boolean()),
  msg_sequence: optional(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
});

test("G1: any message can be restored from its fields or its source", () => {
  fc.assert(
    fc.property(anyMessage, (value) => {
      const text = print(value);
      const stored = fromBinary(MessageSchema, toBinary(MessageSchema, readMessage(open(text))));
      expect(sorted(messageJson(stored))).toBe(sorted(text));
    }),
    { numRuns: 500 },
  );
});

test("G2: any chunk can be restored from its fields and its source", () => {
  fc.assert(
    fc.property(anyChunk, (value) => {
      const stored = fromBinary(MessageChunkSchema, toBinary(MessageChunkSchema, readChunk(open(print(value)))));
      const { content, all_content } = value;
      const said = JSON.parse(print(value));
      expect(stored.allContent).toBe(all_content?.toWellFormed());
      if (stored.source !== undefined) {
        expect(stored.source).not.toContain('"all_content"');
        expect({ content, all_content, ...JSON.parse(stored.source) }).toEqual({ content, all_content, ...said });
      }
      if (stored.source === undefined || !("content" in JSON.parse(stored.source))) {
        expect(stored.content).toBe(typeof content === "string" ? content : textOf(content ?? []));
      }
      if (stored.source === undefined) {
        const { role, isFinal, msgSequence, toolCalls, providerSpecificFields } = stored;
        const message = create(MessageSchema, { role, toolCalls, providerSpecificFields });
        const fields = { ...JSON.parse(messageJson(message)), is_final: isFinal, msg_sequence: msgSequence };
        const empty = { is_final: false, msg_sequence: 0 };
        expect({ ...empty, ...fields }).toEqual({ ...empty, ...withoutEmpty(said) });
      }
    }),
    { numRuns: 500 },
  );
});

function textOf(parts: readonly { text?: string | null | undefined }[]): string {
  return parts.map(({ text }) => text ?? "").join("");
}

/** Leaves out the text, and members that are null or an empty list. */
function withoutEmpty({ content: _, all_content: __, ...members }: Record<string, unknown>): object {
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => name === "mood" || !isEmpty(value)));
}

test("numbers, order and escapes are unchanged in the source", () => {
  const text = '{"z":1.0,"role":"assistant","n":9007199254740993,"content":"\\u00e9"}';
  const message = readMessage(open(` ${text.replaceAll(",", " , ")} `));
  expect(message.source).toBe(text);
  expect(message.content.value).toBe("é");
});

describe("a message needs no source", () => {
  test.each<[string, object]>([
    ["of text", { role: "assistant", content: "hello" }],
    ["of no text", { role: "assistant", content: "" }],
    ["without content", { role: "assistant", tool_calls: [calling()] }],
    [
      "of parts",
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "file_url", file_url: "u" },
        ],
      },
    ],
    ["of a tool", { role: "tool", name: "n", tool_call_id: "c", resp_message_id: "r", content: "x" }],
    ["with what a provider needs", { role: "a", content: "x", provider_specific_fields: { b: null, a: [1] } }],
  ])("%s", (_, value) => {
    const message = readMessage(open(JSON.stringify(value)));
    expect(message.source).toBeUndefined();
    expect(JSON.parse(messageJson(message))).toEqual(value);
  });
});

describe("a message has a source", () => {
  test.each<[string, object]>([
    ["with a null", { role: "assistant", content: "a", name: null }],
    ["with a member that is not known", { role: "assistant", content: "a", mood: "good" }],
    [
      "with the url of an image in an object",
      { role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] },
    ],
    ["with the url of an image alone", { role: "user", content: [{ type: "image_url", image_url: "u" }] }],
    ["with a part that has more", { role: "user", content: [{ type: "text", text: "a", lang: "en" }] }],
    ["with a null in a part", { role: "user", content: [{ type: "text", text: "a", file_name: null }] }],
    ["with an empty list of calls", { role: "assistant", content: "a", tool_calls: [] }],
    ["with a call of another type", { role: "a", tool_calls: [{ ...calling(), type: "custom" }] }],
    ["with a call that has more", { role: "a", tool_calls: [{ ...calling(), index: 0 }] }],
  ])("%s", (_, value) => {
    const message = readMessage(open(JSON.stringify(value)));
    expect(message.source).toBe(JSON.stringify(value));
  });
});

test("a message's fields are filled even when it has a source", () => {
  const value = {
    role: "assistant",
    name: null,
    content: [
      { type: "image_url", image_url: { url: "u" } },
      { type: "text", text: "b" },
      { type: "odd", x: 1 },
    ],
    tool_calls: [{ ...calling(), provider_specific_fields: { s: "t" } }],
  };
  const { content, toolCalls } = readMessage(open(JSON.stringify(value)));
  expect(content.case === "parts" && content.value.elements.map(({ type }) => type)).toEqual([
    "image_url",
    "text",
    "odd",
  ]);
  expect(content.case === "parts" && content.value.elements[0]?.imageUrl).toBe("u");
  expect(toolCalls).toMatchObject([{ id: "c1", name: "look", arguments: "{", providerSpecificFields: '{"s":"t"}' }]);
});

test("the texts of a chunk are joined; parts of another kind are in its source", () => {
  const texts = ["a", "b"].map((text) => ({ type: "text", text }));
  const image = { type: "image_url", image_url: { url: "u" } };
  const read = (content: object[]) => readChunk(open(JSON.stringify({ role: "assistant", content })));
  expect(read(texts)).toMatchObject({ content: "ab" });
  expect(read(texts).source).toBeUndefined();
  const parts = [...texts, image];
  expect(read(parts)).toMatchObject({ content: "ab", source: JSON.stringify({ role: "assistant", content: parts }) });
});

test("a chunk with its own members has a source as it was written, without its text", () => {
  const own = '"mood":1.0,"n":9007199254740993,"provider_specific_fields":{"e":1E2},"name":null,"is_final":true';
  const chunk = readChunk(open(`{"role": "assistant", "content": "hel", "all_content": "hel", ${own}}`));
  expect(chunk).toMatchObject({ content: "hel", source: `{"role":"assistant",${own}}` });
});

test("a chunk from the Python SDK has no source: its nulls are ignored", () => {
  const python =
    '{"role": "assistant", "resp_message_id": null, "name": null, "all_content": null, "content": "hel", "tool_calls": null, "tool_call_id": null, "is_final": false, "msg_sequence": 3, "provider_specific_fields": null}';
  const chunk = readChunk(open(python));
  expect(chunk).toMatchObject({ role: "assistant", content: "hel", isFinal: false, msgSequence: 3 });
  expect(chunk.source).toBeUndefined();
});

describe("refused with the path and the fix", () => {
  test.each([
    ["{}", "m.role is missing: expected text"],
    ['{"role":null}', "m.role is null: expected text"],
    ['{"role":7}', "m.role is a number: expected text"],
    ['{"role":""}', "m.role must have 1 to 255 characters and no control character"],
    ['{"role":"a\\u0000"}', "m.role must have 1 to 255 characters and no control character"],
    ['{"role":"a","role":"b"}', 'm has "role" twice: remove one'],
    ["[]", "m is a list: expected an object"],
    ['{"role":"a","content":7}', "m.content must be text or a list of parts"],
    ['{"role":"a","content":["x"]}', "m.content[0] is text: expected an object"],
    ['{"role":"a","content":[{}]}', "m.content[0].type is missing: expected text"],
    ['{"role":"a","content":[{"type":"text","text":1}]}', "m.content[0].text is a number: expected text"],
    ['{"role":"a","content":[{"type":"i","image_url":{}}]}', "m.content[0].image_url.url is missing: expected text"],
    ['{"role":"a","tool_calls":{}}', "m.tool_calls is an object: expected a list"],
    ['{"role":"a","tool_calls":[{"id":"c"}]}', "m.tool_calls[0].function is missing: expected an object"],
    [
      '{"role":"a","tool_calls":[{"id":"c","function":{"name":"n","arguments":{}}}]}',
      "m.tool_calls[0].function.arguments is an object: expected text",
    ],
    ['{"role":"a","provider_specific_fields":[]}', "m.provider_specific_fields is a list: expected an object"],
    ['{"role":"a","name":1}', "m.name is a number: expected text"],
  ])("%s", (text, problem) => {
    expect(() => readMessage(open(text))).toThrow(problem);
    expect(() => readChunk(open(text))).toThrow(problem);
  });

  test.each([
    ['{"role":"a","is_final":"yes"}', "m.is_final is text: expected true or false"],
    ['{"role":"a","msg_sequence":1.5}', "m.msg_sequence is a number: expected an integer"],
    ['{"role":"a","msg_sequence":2147483648}', "m.msg_sequence is a number: expected an integer"],
    ['{"role":"a","all_content":[]}', "m.all_content is a list: expected text"],
  ])("%s in a piece", (text, problem) => {
    expect(() => readChunk(open(text))).toThrow(problem);
  });
});

function calling() {
  return { id: "c1", type: "function", function: { name: "look", arguments: "{" } };
}

function open(text: string): Members {
  return new Members(text, parseJsonText(text), "m");
}

/** JSON.stringify leaves out undefined members, and escapes unpaired surrogates. */
function print(value: unknown): string {
  return JSON.stringify(value);
}

/** Returns the same text for equal values, because both come from JSON.stringify. */
function sorted(text: string): string {
  return compactJson(text, parseJsonText(text), { sortKeys: true });
}

function halves(): fc.Arbitrary<string> {
  return fc.nat({ max: 0x7ff }).map((code) => `x${String.fromCharCode(0xd800 + code)}y`);
}

function isSafeName(name: string): boolean {
  return !name.includes("\\");
}

function isLabelLike(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}
