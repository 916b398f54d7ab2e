// The log probabilities of a text, from every format that has them.

import { describe, expect, test } from "vitest";
import type { ModelLogprob, ModelPart } from "../../src/agent/models/model.ts";
import { type LikelyText, likelyText, likelyTexts, likelyTokens } from "../fakes/log-probabilities.ts";
import { onChat } from "../fakes/provider.ts";
import type { Script } from "../fakes/wire-server.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import { textOf } from "./parts.ts";
import { play } from "./play.ts";
import type { ProviderStage } from "./stage.ts";

const stages: Readonly<Record<string, ProviderStage>> = {
  "Chat Completions": chatStage,
  Responses: responsesStage,
  Gemini: geminiStage,
};

/** Plays a response to a request for the likeliest tokens. */
async function playLikely(stage: ProviderStage, script: Script, topLogprobs = 2) {
  const { parts, sent } = await play(stage, script, { settings: { topLogprobs } });
  return { parts, body: sent.body };
}

function stageOf({ name }: LikelyText): ProviderStage {
  return stages[name] ?? expect.fail(`no stage of ${name}`);
}

function logprobsOf(parts: readonly ModelPart[]): readonly ModelLogprob[] {
  return parts.flatMap((part) => (part.type === "text" ? (part.logprobs ?? []) : []));
}

/** Returns a token as OpenAI's APIs write it. */
function printed({ top, ...chosen }: ModelLogprob): object {
  const print = ({ bytes, ...named }: Omit<ModelLogprob, "top">) => ({ ...named, ...(bytes && { bytes: [...bytes] }) });
  return { ...print(chosen), top_logprobs: top.map(print) };
}

const token = (name: string, fields: object = {}) => ({ token: name, logprob: -1, ...fields });

/** Plays choices of Chat Completions, one frame each. */
async function playChoices(...choices: readonly object[]) {
  const script = onChat((wire) => {
    for (const choice of choices) {
      wire.frame({ choices: [{ index: 0, ...choice }] });
    }
    wire.done("stop");
  });
  return (await playLikely(chatStage, script)).parts;
}

const namesOf = (parts: readonly ModelPart[]) => logprobsOf(parts).map((each) => each.token);

test.each(likelyTexts)("of $name are asked for, and come with the text that they belong to", async (provider) => {
  const { parts, body } = await playLikely(stageOf(provider), provider.say);
  expect(body).toMatchObject(provider.asks);
  expect(textOf(parts)).toBe(likelyText);
  const { hasBytes } = provider;
  const expected = likelyTokens.map(({ bytes, top_logprobs, ...chosen }) => ({
    ...chosen,
    ...(hasBytes && { bytes }),
    top_logprobs: top_logprobs.map(({ bytes: each, ...other }) => ({ ...other, ...(hasBytes && { bytes: each }) })),
  }));
  expect(logprobsOf(parts).map(printed)).toEqual(expected);
});

test("of the chosen tokens alone are asked for by 0, which Gemini takes as no number", async () => {
  const bodies = await Promise.all(
    likelyTexts.map(async (each) => (await playLikely(stageOf(each), each.say, 0)).body as Record<string, unknown>),
  );
  const [chat, responses, gemini] = bodies;
  expect(chat).toMatchObject({ logprobs: true, top_logprobs: 0 });
  expect(responses).toMatchObject({ top_logprobs: 0, include: ["message.output_text.logprobs"] });
  expect(gemini?.generationConfig).toMatchObject({ responseLogprobs: true });
  expect(gemini?.generationConfig).not.toHaveProperty("logprobs");
});

test.each([
  ["nothing", null],
  ["the form of old completions", { tokens: ["Hi"], token_logprobs: [-1], top_logprobs: [{ Hi: -1 }] }],
  ["a list", [token("Hi")]],
  ["words", "none"],
])("in an unknown form are skipped, and the text stays: %s", async (_, logprobs) => {
  const parts = await playChoices({ delta: { content: "Hi" }, logprobs });
  expect(parts[0]).toEqual({ type: "text", text: "Hi" });
});

test("of unknown tokens are skipped, and the others stay", async () => {
  const odd = [null, "x", {}, { token: "no number" }, token("null", { logprob: null }), token("x".repeat(129))];
  const bytes = [300];
  const others = Array.from({ length: 30 }, (_, index) => token(`t${index}`));
  const content = [...odd, token("a", { bytes, top_logprobs: [...odd, ...others] }), token("b", { top_logprobs: {} })];
  const parts = await playChoices({ delta: { content: "ab" }, logprobs: { content } });
  const [a, b, ...rest] = logprobsOf(parts);
  expect(a).toMatchObject({ token: "a", logprob: -1 });
  expect(a?.bytes).toBeUndefined();
  expect(a?.top.map((each) => each.token)).toEqual(others.slice(0, 20 - odd.length).map((each) => each.token));
  expect(b).toEqual({ token: "b", logprob: -1, top: [] });
  expect(rest).toEqual([]);
});

test("of thoughts and calls are no part of the text", async () => {
  const call = { index: 0, id: "call_1", function: { name: "now", arguments: "" } };
  const parts = await playChoices(
    { delta: { reasoning_content: "hm" }, logprobs: { content: [token("thought")] } },
    { delta: { tool_calls: [call] }, logprobs: { content: [token("call")] } },
    { delta: { content: "Hi", tool_calls: [] }, logprobs: { content: [token("Hi")] } },
  );
  expect(namesOf(parts)).toEqual(["Hi"]);
  const frame = (part: object, name: string) => ({
    candidates: [
      { content: { parts: [part] }, logprobsResult: { chosenCandidates: [{ token: name, logProbability: -1 }] } },
    ],
  });
  const { parts: ofGemini } = await playLikely(geminiStage, (wire) => {
    wire.frame(frame({ text: "hm", thought: true }, "thought"));
    wire.frame(frame({ functionCall: { name: "now", willContinue: true } }, "call"));
    wire.frame(frame({ functionCall: {} }, "call"));
    wire.frame(frame({ text: "Hi" }, "Hi"));
    wire.frame({ candidates: [{ finishReason: "STOP" }] });
  });
  expect(namesOf(ofGemini)).toEqual(["Hi"]);
});

test("of a whole message, and beside a text in parts, are read too", async () => {
  const message = { role: "assistant", content: "Hi" };
  expect(namesOf(await playChoices({ message, logprobs: { content: [token("Hi")] } }))).toEqual(["Hi"]);
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "Hi" },
  ];
  expect(namesOf(await playChoices({ delta: { content }, logprobs: { content: [token("Hi")] } }))).toEqual(["Hi"]);
});

test("a token without text is no word: a response of such tokens alone is not whole", async () => {
  const { parts } = await playLikely(
    chatStage,
    onChat((wire) => {
      wire.frame({ choices: [{ index: 0, delta: { content: "" }, logprobs: { content: [token("x")] } }] });
      wire.done();
    }),
  );
  expect(parts.at(-1)).toMatchObject({ type: "failure", code: "cut" });
});

describe.each(["response.output_text.done", "response.output_item.done"])("of Responses in %s", (type) => {
  const text = (value: string, names: readonly string[]) => {
    return { type: "output_text", text: value, logprobs: names.map((name) => token(name)) };
  };
  const content = [text("ab", ["a", "b"]), { type: "refusal" }, text("cd", ["c", "d"])];
  const end =
    type === "response.output_item.done"
      ? [{ type, output_index: 0, item: { id: "m", type: "message", content } }]
      : content.map((part, content_index) => ({ output_index: 0, content_index, item_id: "m", ...part, type }));

  test.each([
    ["alone", []],
    ["after some of them have come with the deltas", ["a", "b", "c"]],
    ["after all of them have come with the deltas", ["a", "b", "c", "d"]],
  ])("come once: %s", async (_, early) => {
    const { parts } = await playLikely(responsesStage, (wire) => {
      for (const delta of ["a", "b", "c", "d"]) {
        const place = { output_index: 0, content_index: delta < "c" ? 0 : 2, item_id: "m" };
        const logprobs = early.includes(delta) ? [token(delta)] : [];
        wire.frame({ type: "response.output_text.delta", ...place, delta, logprobs });
      }
      for (const frame of end) {
        wire.frame(frame);
      }
      wire.frame({ type: "response.completed", response: { status: "completed", output: [] } });
    });
    expect(textOf(parts)).toBe("abcd");
    expect(namesOf(parts)).toEqual(["a", "b", "c", "d"]);
  });
});

test("of one long frame are split over parts, none of which has more than the log keeps in one result", async () => {
  const content = Array.from({ length: 600 }, (_, index) => token(`t${index}`));
  const parts = await playChoices(
    { delta: { content: "before" }, logprobs: { content: [token("before")] } },
    { delta: { content: "Hi" }, logprobs: { content } },
  );
  expect(textOf(parts)).toBe("beforeHi");
  expect(namesOf(parts)).toEqual(["before", ...content.map((each) => each.token)]);
  expect(Math.max(...parts.map((part) => logprobsOf([part]).length))).toBe(256);
});

test("of Responses are asked for beside what the caller includes and the thoughts of a model that reasons", async () => {
  const include = ["file_search_call.results"];
  const asked = { settings: { topLogprobs: 1 }, providerOptions: { include } };
  const { sent } = await play(responsesStage, responsesStage.say("ok"), asked, "gpt-5");
  expect(sent.body).toMatchObject({
    include: [...include, "message.output_text.logprobs", "reasoning.encrypted_content"],
  });
});
