// A provider's errors, as the official client raises them: its own classes, with code and wait.

import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { Script } from "../fakes/provider.ts";
import { setOpenAiStage } from "./stage.ts";

const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "hi" }];
const invalid = "invalid_request_error";

describe.each([
  [429, "rate_limit_exceeded", "slow down", OpenAI.RateLimitError, "rate_limit_error", "rate_limit_exceeded"],
  [429, "insufficient_quota", "no money", OpenAI.RateLimitError, "insufficient_quota", "insufficient_quota"],
  [400, "context_length_exceeded", "too long", OpenAI.BadRequestError, invalid, "context_length_exceeded"],
  [401, "invalid_api_key", "wrong key", OpenAI.AuthenticationError, invalid, "provider_authentication"],
  [404, "model_not_found", "no such model", OpenAI.NotFoundError, invalid, "model_not_found"],
  [503, "overloaded", "The engine is overloaded", OpenAI.InternalServerError, "server_error", "overloaded"],
])("a provider's %d %s", (status, given, text, raised, type, code) => {
  test.each([
    ["chat", (client: OpenAI) => client.chat.completions.create({ model: "gpt-4o", messages })],
    [
      "a streamed chat",
      (client: OpenAI) => client.chat.completions.create({ model: "gpt-4o", messages, stream: true }),
    ],
    ["a response", (client: OpenAI) => client.responses.create({ model: "gpt-4o", input: "hi" })],
  ])("raises the client's own class for %s", async (_, call) => {
    const { client, provider } = await setOpenAiStage();
    const answer = JSON.stringify({ error: { message: text, type: "x", code: given } });
    // As often as the service tries.
    // A run parks for a long wait, unless waiting does not help.
    const wait = code === "rate_limit_exceeded" ? "1.2" : "60";
    const refuse: Script = (wire) => wire.reply(status, answer, status === 429 ? { "retry-after": wait } : {});
    provider.respond(refuse, refuse, refuse, refuse, refuse);
    const error = await call(client.withOptions({ maxRetries: 0 })).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(raised);
    expect(error).toMatchObject({ type, code });
    if (code === "rate_limit_exceeded") {
      expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after")).toBe("2");
    }
  });
});
