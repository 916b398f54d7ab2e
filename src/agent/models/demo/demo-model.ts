// A model that needs no API key: it picks tools by fixed rules, makes real calls and answers with their results, word by word.
// The same request always gives the same parts. `pace=5` (milliseconds a word) and `words=200` in the message make runs of any
// length and speed.

import type { Clock } from "../../../platform/base/clock.ts";
import type { Model, ModelPart, ModelRequest, ModelUsage } from "../model.ts";
import { writeAnswer } from "./answer.ts";
import { planCalls, readExchange } from "./plan.ts";

/** The name of the demo model. */
export const demoModelName = "demo";

/** Creates the demo model. */
export function createDemoModel(options: { readonly clock: Clock }): Model {
  return {
    provider: "demo",
    name: demoModelName,
    stream: (request, signal) => streamDemo(options.clock, request, signal),
  };
}

// About the speed of a fast hosted model.
const paceDefaultMs = 20;

// Slow enough to demonstrate a stalled stream.
const paceMaxMs = 60_000;

async function* streamDemo(clock: Clock, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    return;
  }
  const exchange = readExchange(request.messages);
  const calls = planCalls(exchange, request.settings?.toolChoice === "none" ? [] : request.tools);
  if (calls.length > 0) {
    yield* calls.map((call) => ({ type: "tool-call", call }) as const);
    yield { type: "finish", reason: "tool-calls", usage: countUsage(request, calls.length) };
    return;
  }
  const wordsAsked = readSetting(exchange.userText, "words");
  const paceMs = Math.min(readSetting(exchange.userText, "pace") ?? paceDefaultMs, paceMaxMs);
  const words = writeAnswer(
    exchange,
    wordsAsked === undefined ? undefined : Math.min(wordsAsked, request.maxTokens + 1),
  );
  // One word counts as one token, so that the token limit is visible.
  const said = words.slice(0, request.maxTokens);
  yield* speak(clock, said, paceMs, signal);
  if (!signal.aborted) {
    const reason = said.length < words.length ? "length" : "stop";
    yield { type: "finish", reason, usage: countUsage(request, said.length) };
  }
}

async function* speak(
  clock: Clock,
  words: readonly string[],
  paceMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  for (const [index, text] of words.entries()) {
    if (index > 0 && paceMs > 0) {
      await clock.sleep(paceMs, signal);
    }
    if (signal.aborted) {
      return;
    }
    yield { type: "text", text };
  }
}

function readSetting(userText: string, name: string): number | undefined {
  const found = new RegExp(`\\b${name}=(\\d{1,9})\\b`).exec(userText)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Counts words, which are the tokens of the demo model. */
function countUsage(request: ModelRequest, completionTokens: number): ModelUsage {
  const texts = [request.system, ...request.messages.map((message) => message.text)];
  const promptTokens = texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: undefined,
    reasoningTokens: undefined,
  };
}
