// Images, recordings and files that callers of OpenAI's API send, on their way to a provider.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { pngBase64 } from "../fakes/png.ts";
import { setOpenAiStage, speak } from "./stage.ts";

const png = `data:image/png;base64,${pngBase64}`;
const wav = Buffer.from("RIFF\0\0\0\0WAVEfmt ").toString("base64");
const pdf = `data:application/pdf;base64,${Buffer.from("%PDF-1.7").toString("base64")}`;

test("an image, a recording and a file of a chat reach the provider as they are", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("a cat"), speak("a meow"));
  const content: OpenAI.Chat.ChatCompletionContentPart[] = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: png, detail: "low" } },
    { type: "file", file: { file_data: pdf, filename: "a.pdf" } },
  ];
  await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content }] });
  expect((await provider.request(0)).body.messages.at(-1)?.content).toEqual([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: png } },
    { type: "file", file: { filename: "a.pdf", file_data: pdf } },
  ]);
  const said = { type: "input_audio", input_audio: { data: wav, format: "wav" } } as const;
  const messages = [{ role: "user" as const, content: [said] }];
  await client.chat.completions.create({ model: "openai:gpt-4o-audio-preview", messages });
  expect((await provider.request(1)).body.messages.at(-1)?.content).toEqual([said]);
});

test("a model that does not hear gets a note in place of a recording", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("I cannot hear"));
  const said = { type: "input_audio", input_audio: { data: wav, format: "wav" } } as const;
  await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: [said] }] });
  expect((await provider.request(0)).body.messages.at(-1)?.content).toBe(
    "[audio (audio/wav, 16 bytes): this model does not read audio]",
  );
});

test("a model gets a note in place of an image that is no image, also when the message has nothing else", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("I see nothing"), speak("I see nothing"));
  const broken = { type: "image_url", image_url: { url: "data:image/png;base64,@@@" } } as const;
  const note = "[image: it is neither base64 nor a data URL with base64]";
  await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: [broken] }] });
  expect((await provider.request(0)).body.messages.at(-1)?.content).toBe(note);
  const asked = [{ type: "text", text: "What is this?" } as const, broken];
  await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: asked }] });
  expect((await provider.request(1)).body.messages.at(-1)?.content).toBe(`What is this?\n${note}`);
});

test("an image of a response stays in its conversation", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("a cat"), speak("black"));
  const { id: conversation } = await client.conversations.create();
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: "input_text", text: "What is this?" },
    { type: "input_image", image_url: png, detail: "auto" },
  ];
  await client.responses.create({ model: "gpt-4o", conversation, input: [{ role: "user", content }] });
  await client.responses.create({ model: "gpt-4o", conversation, input: "Its colour?" });
  const wire = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: png } },
  ];
  expect((await provider.request(0)).body.messages.at(-1)?.content).toEqual(wire);
  expect((await provider.request(1)).body.messages[0]?.content).toEqual(wire);
  const items = await Array.fromAsync(client.conversations.items.list(conversation, { order: "asc" }));
  expect(items[0]).toMatchObject({ type: "message", role: "user", content });
});
