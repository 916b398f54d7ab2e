// Resolves model names to providers.

import { expect, test } from "vitest";
import { createDemoModel } from "../../src/agent/models/demo/demo-model.ts";
import type { Model } from "../../src/agent/models/model.ts";
import { createModelRouter } from "../../src/agent/models/route.ts";
import type { ModelProvider } from "../../src/agent/models/wire/account.ts";
import { createManualClock } from "../harness/manual-clock.ts";

const demo = createDemoModel({ clock: createManualClock() });
const full = createModelRouter({
  accounts: new Map(["openai", "gemini", "anthropic"].map((name) => [name, nameProvider(name)])),
  demo,
});
const empty = createModelRouter({ accounts: new Map(), demo });

/** Models whose name shows their provider. */
function nameProvider(provider: string): ModelProvider {
  return {
    model: (name): Model => ({ provider, name: `${provider} has ${name}`, stream: demo.stream }),
    close: () => {},
  };
}

test.each([
  ["gpt-4o", "openai has gpt-4o"],
  ["o1", "openai has o1"],
  ["o1-mini", "openai has o1-mini"],
  ["o3", "openai has o3"],
  ["o3-mini", "openai has o3-mini"],
  ["o4-mini", "openai has o4-mini"],
  ["chatgpt-4o-latest", "openai has chatgpt-4o-latest"],
  ["openai:llama-3:8b", "openai has llama-3:8b"],
  ["openai:claude-x", "openai has claude-x"],
  ["gemini-2.5-pro", "gemini has gemini-2.5-pro"],
  ["claude-sonnet-4", "anthropic has claude-sonnet-4"],
])("%s is resolved as: %s", (name, resolved) => {
  expect(full.resolve(name).name).toBe(resolved);
});

test("demo needs no provider", () => {
  expect(empty.resolve("demo")).toBe(demo);
});

test.each([
  ["gpt-4o", "OpenAI"],
  ["openai:anything", "OpenAI"],
  ["gemini-2.5-pro", "Gemini"],
  ["claude-sonnet-4", "Anthropic"],
])("%s without a key gives an error that the key of %s is missing", (name, title) => {
  expect(() => empty.resolve(name)).toThrow(
    expect.objectContaining({
      reason: "MODEL_UNSUPPORTED",
      message: `failed to create client: ${title} API key not configured for model ${name}`,
    }),
  );
});

test.each(["", "llama-3", "gpt", "o4", "o11", "openai:", "demo-2", "GPT-4o", 'a"b'])(
  "%j is refused with the list of known prefixes",
  (name) => {
    expect(() => full.resolve(name)).toThrow(
      expect.objectContaining({
        reason: "MODEL_UNSUPPORTED",
        message: `failed to create client: unsupported model ${JSON.stringify(name)}: expected prefix gpt-/o1-/o3-/chatgpt- (OpenAI), gemini- (Gemini), or claude- (Anthropic)`,
      }),
    );
  },
);
