// The files that a model makes, from every format: odd ones, repeated ones, and those that come back to their provider.

import { describe, expect, test } from "vitest";
import type { ModelArtifact, ModelPart } from "../../src/agent/models/model.ts";
import { onGemini } from "../fakes/gemini-provider.ts";
import { pngBase64 } from "../fakes/png.ts";
import { onChat } from "../fakes/provider.ts";
import { onResponses } from "../fakes/responses-provider.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import { stateOf } from "./parts.ts";
import { play } from "./play.ts";

function artifactsOf(parts: readonly ModelPart[]): readonly ModelArtifact[] {
  return parts.filter((part) => part.type === "artifact");
}

const png = { mimeType: "image/png", data: pngBase64 };

/** Plays the parts of one answer of Gemini. */
async function playParts(...said: readonly object[]) {
  const script = onGemini((wire) => {
    wire.parts(said);
    wire.finish("STOP");
  });
  return (await play(geminiStage, script)).parts;
}

/** Returns what a later request of Gemini sends, given the states of earlier answers. */
async function sentAgain(states: readonly (string | undefined)[], model?: string): Promise<string> {
  const messages = states.flatMap((state, place) => [
    { role: "user", text: `draw ${place}` } as const,
    { role: "assistant", text: "so", toolCalls: [], state } as const,
  ]);
  const asked = { messages: [...messages, { role: "user", text: "again" } as const] };
  return (await play(geminiStage, geminiStage.say("ok"), asked, model)).sent.text;
}

describe("of Gemini", () => {
  test("may be a recording, or a file that Google keeps", async () => {
    const mimeType = "audio/L16;codec=pcm;rate=24000";
    const fileUri = "https://generativelanguage.googleapis.com/v1beta/files/a";
    const parts = await playParts(
      { inlineData: { mimeType, data: "AAAA" } },
      { fileData: { mimeType: "video/mp4", fileUri } },
    );
    expect(artifactsOf(parts)).toMatchObject([
      { kind: "audio", mediaType: mimeType, sizeBytes: 3, url: undefined },
      { kind: "file", mediaType: "video/mp4", sizeBytes: undefined, content: undefined, url: fileUri },
    ]);
    expect(parts.at(-1)).toMatchObject({ skipped: undefined });
  });

  test("are skipped as drafts among its thoughts, and without bytes", async () => {
    const parts = await playParts({ inlineData: png, thought: true }, { inlineData: {} }, { text: "so" });
    expect(artifactsOf(parts)).toEqual([]);
    expect(stateOf(parts)).toBeUndefined();
  });

  test("go back in their place, with their signature, to their own model alone", async () => {
    const image = { inlineData: png, thoughtSignature: "c2ln" };
    const state = stateOf(await playParts({ text: "Here:" }, image, { text: "Done." }));
    expect(await sentAgain([state])).toContain(`"parts":[{"text":"Here:"},${JSON.stringify(image)},{"text":"Done."}]`);
    const other = await sentAgain([state], "gemini-2.0-flash");
    expect(other).toContain("Here:");
    expect(other).not.toContain(pngBase64);
  });

  test("go back as many as have room in a request, the newest ones", async () => {
    const drawn = (letter: string, chars: number) => ({ inlineData: { ...png, data: letter.repeat(chars) } });
    const sizes = [
      ["A", 1_200_000],
      ["B", 1_200_000],
      ["C", 400_000],
      ["D", 3_000_000],
    ] as const;
    const states = await Promise.all(
      sizes.map(async ([letter, chars]) => stateOf(await playParts(drawn(letter, chars), { text: "so" }))),
    );
    expect(states[3]).toBeUndefined();
    const sent = await sentAgain(states);
    expect(["AAAA", "BBBB", "CCCC", "DDDD"].map((each) => sent.includes(each))).toEqual([false, true, true, false]);
  });
});

describe("of Chat Completions", () => {
  const draw = (...urls: readonly unknown[]) =>
    onChat((wire) => {
      for (const url of urls) {
        wire.delta({ images: [{ type: "image_url", image_url: { url } }] });
      }
      wire.done();
    });

  test("come once each, and an answer of images alone is whole", async () => {
    const url = `data:image/png;base64,${pngBase64}`;
    const { parts } = await play(chatStage, draw(url, url, "https://a.example/b.png", "https://a.example/b.png"));
    expect(artifactsOf(parts)).toMatchObject([
      { kind: "image", mediaType: "image/png", content: Buffer.from(pngBase64, "base64"), url: undefined },
      { kind: "image", mediaType: undefined, content: undefined, url: "https://a.example/b.png" },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "finish" });
  });

  test("of an unknown form are skipped, and bytes say their type themselves", async () => {
    const odd = [null, 7, "", "data:", "data:image/png,abc", "data:image/png;base64,", "nowhere"];
    const { parts } = await play(chatStage, draw(...odd, `data:<b>;base64,${pngBase64}`));
    expect(artifactsOf(parts)).toMatchObject([{ kind: "image", mediaType: "image/png" }]);
  });

  test("have a maximum", async () => {
    const urls = Array.from({ length: 80 }, (_, place) => `https://a.example/${place}`);
    expect(artifactsOf((await play(chatStage, draw(...urls))).parts)).toHaveLength(64);
  });

  test("of a whole message are read too", async () => {
    const images = [{ image_url: { url: "https://a.example/b" } }];
    const script = onChat((wire) =>
      wire.frame({ choices: [{ message: { content: "so", images }, finish_reason: "stop" }] }),
    );
    expect(artifactsOf((await play(chatStage, script)).parts)).toHaveLength(1);
  });
});

test("of Responses come with the last event alone, too, and without an id", async () => {
  const item = { type: "image_generation_call", result: pngBase64 };
  const script = onResponses((wire) => {
    wire.frame({ type: "response.completed", response: { status: "completed", output: [item] } });
  });
  const { parts } = await play(responsesStage, script);
  expect(parts).toMatchObject([
    { type: "artifact", id: "", mediaType: "image/png", content: Buffer.from(pngBase64, "base64") },
    { type: "provider-call", outcome: { json: '{"type":"image_generation_call"}' } },
    { type: "finish", reason: "stop" },
  ]);
});
