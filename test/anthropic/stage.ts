// A service that the official client of Anthropic's API calls, unmodified: only its base URL and its key are ours.

import Anthropic from "@anthropic-ai/sdk";
import type { Config } from "../../src/platform/config/keys.ts";
import { startWithProvider } from "../conformance/stage.ts";
import type { FakeProvider, Script } from "../fakes/provider.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";

export interface AnthropicStage {
  readonly service: TestService;
  /** The provider of `gpt-…`. */
  readonly provider: FakeProvider;
  /** The provider of `claude-…`. */
  readonly claude: WireServer;
  readonly client: Anthropic;
  /** Posts JSON as programs do. */
  readonly post: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>;
}

export async function setAnthropicStage(flags: Partial<Config> = {}): Promise<AnthropicStage> {
  const claude = await openWireServer();
  const ofClaude = { anthropicKey: "test-key", anthropicBaseUrl: `${claude.origin}/v1` };
  const { provider, service } = await startWithProvider({ ...ofClaude, ...flags });
  return {
    service,
    provider,
    claude,
    client: anthropicClient(service.url),
    post: (body, headers = {}) =>
      fetch(`${service.url}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", ...credentialsOf(), ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

/** The official client. It does not repeat calls, so that tests see each answer. */
export function anthropicClient(url: string, clientId?: string): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: keyOf(clientId), maxRetries: 0 });
}

/** Answers piece by piece; with usage. */
export function speak(...pieces: readonly string[]): Script {
  return (wire) => {
    for (const piece of pieces) {
      wire.text(piece);
    }
    wire.finish("stop");
    wire.usage({
      prompt_tokens: 7,
      completion_tokens: pieces.length,
      total_tokens: 7 + pieces.length,
      prompt_tokens_details: { cached_tokens: 4 },
    });
    wire.done();
  };
}

export const weather: Anthropic.Tool = {
  name: "get_weather",
  description: "Tells the weather",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

/** One request, which each test changes. */
export const hello = {
  model: "gpt-4o",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello" }],
} satisfies Anthropic.MessageCreateParamsNonStreaming;

/** Reads a stream as programs get it. */
export async function readEvents(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => {
      const [, name = "", data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(part) ?? [];
      const event = JSON.parse(data);
      if (event.type !== name) {
        throw new Error(`an event is called ${name}: ${data}`);
      }
      return event;
    });
}
