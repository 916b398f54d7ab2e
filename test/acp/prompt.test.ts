// After a lost turn: whether the agent has the prompt decides whether it gets the prompt again.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { isSeen, promptOf } from "../../src/protocols/acp/prompt.ts";

const image = { type: "image_base64", imageBase64: "data:image/png;base64,AAEC" };
const history = { text: "Look at this.", images: new Set(["AAEC"]) };

function messageOf(...elements: object[]): Message {
  return create(MessageSchema, { role: "user", content: { case: "parts", value: { elements } } });
}

test.each([
  ["a text that it repeats", messageOf({ type: "text", text: "Look at this." }), history, true],
  ["another text", messageOf({ type: "text", text: "Go on." }), history, false],
  ["an image alone that it repeats", messageOf(image), history, true],
  ["an image alone, of which it repeats nothing", messageOf(image), { text: "", images: new Set<string>() }, false],
  ["an image alone after other texts", messageOf(image), { text: "Hello.", images: new Set<string>() }, false],
  [
    "a text with an image that it lacks",
    messageOf({ type: "text", text: "Look" }, image),
    { ...history, images: new Set<string>() },
    false,
  ],
])("%s", (_, input, seen, expected) => {
  expect(isSeen(input, seen, true)).toBe(expected);
});

test("an agent that takes no images got only the text, and an image that was not seen is sent again", () => {
  const input = messageOf({ type: "text", text: "Look at this." }, image);
  expect(isSeen(input, { ...history, images: new Set() }, false)).toBe(true);
  const agent = { systemPrompt: "" } as Parameters<typeof promptOf>[0]["agent"];
  const blocks = promptOf({ agent, input: messageOf(image), transcript: [] }, "interrupted-unseen", true);
  expect(blocks.at(-1)).toEqual({ type: "image", mimeType: "image/png", data: "AAEC" });
});
