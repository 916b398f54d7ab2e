// The sources that a model cites, from every format.

import { expect, test } from "vitest";
import type { ModelCitation } from "../../src/agent/models/model.ts";
import { anthropicStage } from "./anthropic-stage.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import { play } from "./play.ts";
import type { ProviderStage } from "./stage.ts";

/** Plays frames and returns the citations of the response. */
async function citationsOf(
  stage: ProviderStage,
  frames: readonly object[],
): Promise<readonly ModelCitation[] | undefined> {
  const { parts } = await play(stage, (wire) => {
    for (const frame of frames) {
      wire.frame(frame);
    }
  });
  const last = parts.at(-1);
  return last?.type === "finish" ? last.citations : expect.fail(JSON.stringify(parts));
}

const none = { url: undefined, title: undefined, text: undefined, start: undefined, end: undefined };
const page = { ...none, url: "https://example.com/a", title: "A" };

test("of Chat Completions are annotations, or Perplexity's sources, each once", async () => {
  const finish = { index: 0, delta: {}, finish_reason: "stop" };
  const annotation = {
    type: "url_citation",
    url_citation: { url: page.url, title: "A", start_index: 0, end_index: 5 },
  };
  expect(
    await citationsOf(chatStage, [
      { choices: [{ index: 0, delta: { content: "Hello" } }] },
      { choices: [{ index: 0, delta: { annotations: [annotation, { type: "unknown" }, null] } }] },
      { choices: [finish] },
    ]),
  ).toEqual([{ ...page, start: 0, end: 5 }]);
  const sources = { citations: ["https://example.com/a", "https://example.com/b"] };
  expect(
    await citationsOf(chatStage, [
      { choices: [{ index: 0, delta: { content: "Hello" } }], ...sources },
      { choices: [finish], ...sources },
    ]),
  ).toEqual([
    { ...none, url: page.url },
    { ...none, url: "https://example.com/b" },
  ]);
});

test("of Responses are annotations of the complete text", async () => {
  const annotation = { type: "url_citation", url: page.url, title: "A", start_index: 0, end_index: 5 };
  const file = { type: "file_citation", file_id: "f", filename: "a.pdf", index: 2 };
  const content = [{ type: "output_text", text: "Hello", annotations: [annotation, file] }];
  const item = { type: "message", id: "m", role: "assistant", content };
  expect(
    await citationsOf(responsesStage, [
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { output: [item] } },
    ]),
  ).toEqual([
    { ...page, start: 0, end: 5 },
    { ...none, title: "a.pdf" },
  ]);
});

test("of Anthropic come with their blocks, with the words of the source", async () => {
  const place = {
    type: "web_search_result_location",
    url: page.url,
    title: "A",
    cited_text: "words",
    encrypted_index: "x",
  };
  expect(
    await citationsOf(anthropicStage, [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hello" } },
      { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: place } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ]),
  ).toEqual([{ ...page, text: "words" }]);
});

test("of Gemini are the pages of the grounding", async () => {
  const groundingMetadata = { groundingChunks: [{ web: { uri: page.url, title: "A" } }, { maps: {} }] };
  expect(
    await citationsOf(geminiStage, [
      { candidates: [{ content: { parts: [{ text: "Hello" }] }, finishReason: "STOP", groundingMetadata }] },
    ]),
  ).toEqual([page]);
});

test("have limits", async () => {
  const urls = Array.from({ length: 300 }, (_, index) => `https://example.com/${index}`);
  const found = await citationsOf(chatStage, [
    {
      choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }],
      citations: ["x".repeat(9_000), ...urls],
    },
  ]);
  expect(found).toHaveLength(256);
  expect(found?.[0]?.url).toBe("https://example.com/0");
});
