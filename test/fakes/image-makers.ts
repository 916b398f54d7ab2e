// Providers whose model answers with an image and a text.

import type { Config } from "../../src/platform/config/keys.ts";
import { onGemini } from "./gemini-provider.ts";
import { pngBase64 } from "./png.ts";
import { onChat } from "./provider.ts";
import { onResponses } from "./responses-provider.ts";
import type { Script } from "./wire-server.ts";

/** One such provider, in its wire format. */
export interface ImageMaker {
  readonly name: string;
  readonly model: string;
  /** The settings of a service with this provider at an origin. */
  readonly flags: (origin: string) => Partial<Config>;
  /** A response with a PNG in base64 before its text. */
  readonly draw: (text: string, base64?: string) => Script;
  /** The part of a later request that has the image again; undefined for a provider that does not get it back. */
  readonly returned: object | undefined;
  /** The provider's own id of the image. */
  readonly id: string | undefined;
}

const inlineData = { mimeType: "image/png", data: pngBase64 };

const gemini: ImageMaker = {
  name: "Gemini",
  model: "gemini-2.5-flash-image",
  flags: (origin) => ({
    geminiKey: "a-key",
    geminiBaseUrl: `${origin}/v1beta`,
    defaultModel: "gemini-2.5-flash-image",
  }),
  draw: (text, data = pngBase64) =>
    onGemini((wire) => {
      wire.parts([{ inlineData: { ...inlineData, data }, thoughtSignature: "c2ln" }]);
      wire.text(text);
      wire.finish("STOP");
    }),
  returned: { inlineData, thoughtSignature: "c2ln" },
  id: undefined,
};

const chat: ImageMaker = {
  name: "Chat Completions",
  model: "gpt-4o",
  flags: (origin) => ({ openaiKey: "a-key", openaiBaseUrl: `${origin}/v1`, defaultModel: "gpt-4o" }),
  draw: (text, base64 = pngBase64) =>
    onChat((wire) => {
      const image = { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` }, index: 0 };
      wire.delta({ role: "assistant", content: "", images: [image] });
      wire.text(text);
      wire.finish("stop");
      wire.done();
    }),
  returned: undefined,
  id: undefined,
};

const responses: ImageMaker = {
  name: "Responses",
  model: "gpt-5",
  flags: (origin) => ({ ...chat.flags(origin), openaiApi: "responses", defaultModel: "gpt-5" }),
  draw: (text, result = pngBase64) =>
    onResponses((wire) => {
      wire.item({
        ...{ id: "ig_1", type: "image_generation_call", status: "completed" },
        ...{ output_format: "png", revised_prompt: "a dot", result },
      });
      wire.text(text);
      wire.completed();
    }),
  returned: undefined,
  id: "ig_1",
};

export const imageMakers: readonly ImageMaker[] = [gemini, chat, responses];
