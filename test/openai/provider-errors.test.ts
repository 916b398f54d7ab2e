// A provider's errors, as the official client raises them: its own classes, with code and wait.

import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { Script } from "../fakes/provider.ts";
import { setOpenAiStage } from "./stage.ts";

const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "hi" }];
const body = (code: string, message: string) => JSON.stringify({ error: { message, type: "x", code } });

describe.each([
  [429, body("rate_limit_exceeded", "slow down"), OpenAI.RateLimitError, "rate_limit_exceeded"],
  [429, body("insufficient_quota", "no money"), OpenAI.RateLimitError, "insufficient_quota"],
  [400, body("context_length_exceeded", "too long"), OpenAI.BadRequestError, "context_length_exceeded"],
  [401, body("invalid_api_key", "wrong key"), OpenAI.AuthenticationError, "provider_authentication"],
  [404, body("model_not_found", "no such model"), OpenAI.NotFoundError, "model_not_found"],
  [503, body("overloaded", "The engine is overloaded"), OpenAI.InternalServerError, "overloaded"],
])("a provider's %d %s", (status, answer, raised, code) => {
  test.each([
    ["chat", (client: OpenAI) => client.chat.completions.create({ model: "gpt-4o", messages })],
    [
      "a streamed chat",
      (client: OpenAI) => client.chat.completions.create({ model: "gpt-4o", messages, stream: true }),
    ],
    ["a response", (client: OpenAI) => client.responses.create({ model: "gpt-4o", input: "hi" })],
  ])("raises the client's own class for %s", async (_, call) => {
    const { client, provider } = await setOpenAiStage();
    // As often as the service tries.
    const refuse: Script = (wire) => wire.reply(status, answer, status === 429 ? { "retry-after": "1" } : {});
    provider.respond(refuse, refuse, refuse, refuse, refuse);
    const error = await call(client.withOptions({ maxRetries: 0 })).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(raised);
    expect(error).toMatchObject({ code });
    if (code === "rate_limit_exceeded") {
      expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after")).toBe("1");
    }
  });
});
