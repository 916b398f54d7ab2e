// The sources that a model cites, as annotations.

import { expect, test } from "vitest";
import type { ChatWire, Script } from "../fakes/provider.ts";
import { setOpenAiStage } from "./stage.ts";

const url_citation = { url: "https://example.com/a", title: "A", start_index: 0, end_index: 5 };
const annotation = { type: "url_citation", url_citation };

const cite: Script = (wire: ChatWire) => {
  wire.text("Hello");
  wire.delta({ annotations: [annotation] });
  wire.done("stop");
};

test("of a chat are in its message, and in the last delta of a stream", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(cite, cite);
  const asked = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }] };
  const { choices } = await client.chat.completions.create(asked);
  expect(choices[0]?.message.annotations).toEqual([annotation]);
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...asked, stream: true }));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toContainEqual({ annotations: [annotation] });
});

test("of a response are in its text, its events and the items of its conversation", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(cite, cite);
  const { id: conversation } = await client.conversations.create();
  const annotations = [{ type: "url_citation", ...url_citation }];
  const { output } = await client.responses.create({ model: "gpt-4o", input: "Hi", conversation });
  expect(output).toMatchObject([{ type: "message", content: [{ text: "Hello", annotations }] }]);
  const events = await Array.fromAsync(await client.responses.create({ model: "gpt-4o", input: "Hi", stream: true }));
  expect(events).toContainEqual(
    expect.objectContaining({ type: "response.output_text.annotation.added", annotation: annotations[0] }),
  );
  const items = await Array.fromAsync(client.conversations.items.list(conversation, { order: "asc" }));
  expect(items.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Hello", annotations }] });
});
