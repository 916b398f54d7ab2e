// Providers that send the log probabilities of a text. A character of the text has two tokens, and one frame has a token without text.

import type { Config } from "../../src/platform/config/keys.ts";
import { onGemini } from "./gemini-provider.ts";
import { onChat } from "./provider.ts";
import type { Script } from "./wire-server.ts";

/** One such provider, in its wire format. */
export interface LikelyText {
  readonly name: string;
  readonly model: string;
  /** The settings of a service with this provider at an origin. */
  readonly flags: (origin: string) => Partial<Config>;
  readonly say: Script;
  /** The fields of a request that ask for the two likeliest tokens. */
  readonly asks: object;
  /** Whether it sends the bytes of its tokens. */
  readonly hasBytes: boolean;
}

export const likelyText = "Hi \u{1f600}";

/** The tokens of the text, as OpenAI's APIs write them. */
export const likelyTokens = [
  {
    ...{ token: "Hi", logprob: -0.25, bytes: [72, 105] },
    top_logprobs: [
      { token: "Hi", logprob: -0.25, bytes: [72, 105] },
      { token: "Hey", logprob: -1.5, bytes: [72, 101, 121] },
    ],
  },
  // The probability of this token is 1.
  { token: " \\xf0\\x9f\\x98", logprob: 0, bytes: [32, 240, 159, 152], top_logprobs: [] },
  { token: "\\x80", logprob: -9999, bytes: [128], top_logprobs: [] },
] as const;

const [first, second, third] = likelyTokens;

const chatChoice = (delta: object, content: readonly object[] | null, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, logprobs: content && { content, refusal: null }, finish_reason }],
});

const chat: LikelyText = {
  name: "Chat Completions",
  model: "gpt-4o",
  flags: (origin) => ({ openaiKey: "a-key", openaiBaseUrl: `${origin}/v1`, defaultModel: "gpt-4o" }),
  say: onChat((wire) => {
    wire.frame(chatChoice({ role: "assistant", content: "" }, []));
    wire.frame(chatChoice({ content: "Hi" }, [first]));
    wire.frame(chatChoice({ content: "" }, [second]));
    wire.frame(chatChoice({ content: " \u{1f600}" }, [third]));
    wire.frame(chatChoice({}, null, "stop"));
    wire.done();
  }),
  asks: { logprobs: true, top_logprobs: 2 },
  hasBytes: true,
};

const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
const item = { id: "msg_1", type: "message", role: "assistant" };
const part = { type: "output_text", text: likelyText, annotations: [], logprobs: likelyTokens };
const message = { ...item, status: "completed", content: [part] };

const responses: LikelyText = {
  name: "Responses",
  model: "gpt-4o",
  flags: (origin) => ({ ...chat.flags(origin), openaiApi: "responses" }),
  say: (wire) => {
    const delta = (text: string, logprobs: readonly object[]) =>
      wire.frame({ type: "response.output_text.delta", ...place, delta: text, logprobs });
    wire.frame({ type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } });
    delta("Hi", [first]);
    delta("", [second]);
    delta(" \u{1f600}", [third]);
    wire.frame({ type: "response.output_text.done", ...place, text: likelyText, logprobs: likelyTokens });
    wire.frame({ type: "response.content_part.done", ...place, part });
    wire.frame({ type: "response.output_item.done", output_index: 0, item: message });
    wire.frame({ type: "response.completed", response: { status: "completed", output: [message] } });
  },
  asks: { top_logprobs: 2, include: ["message.output_text.logprobs"] },
  hasBytes: true,
};

function geminiToken({ token, logprob }: { readonly token: string; readonly logprob: number }): object {
  return { token, tokenId: 7, logProbability: logprob };
}

function logprobsResult(...tokens: readonly (typeof likelyTokens)[number][]): object {
  return {
    logprobsResult: {
      chosenCandidates: tokens.map(geminiToken),
      topCandidates: tokens.map(({ top_logprobs }) => ({ candidates: top_logprobs.map(geminiToken) })),
      logProbabilitySum: -1,
    },
  };
}

const gemini: LikelyText = {
  name: "Gemini",
  model: "gemini-2.5-flash",
  flags: (origin) => ({
    geminiKey: "a-key",
    geminiBaseUrl: `${origin}/v1beta`,
    defaultModel: "gemini-2.5-flash",
  }),
  say: onGemini((wire) => {
    wire.parts([{ text: "Hi" }], logprobsResult(first));
    wire.parts([{ text: " \u{1f600}" }], logprobsResult(second));
    wire.parts([{ text: "" }], { ...logprobsResult(third), finishReason: "STOP" });
  }),
  asks: { generationConfig: { responseLogprobs: true, logprobs: 2 } },
  hasBytes: false,
};

export const likelyTexts: readonly LikelyText[] = [chat, responses, gemini];
