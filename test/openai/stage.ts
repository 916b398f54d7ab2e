// A service that the official clients of OpenAI's API call, unmodified: only their base URL and their key are ours.

import OpenAI from "openai";
import type { Config } from "../../src/platform/config/keys.ts";
import { startWithProvider } from "../conformance/stage.ts";
import type { FakeProvider, Script } from "../fakes/provider.ts";
import { keyOf } from "../harness/credentials.ts";
import type { TestService } from "../harness/service.ts";

export interface OpenAiStage {
  readonly service: TestService;
  readonly provider: FakeProvider;
  readonly client: OpenAI;
}

export async function setOpenAiStage(
  flags: Partial<Config> = {},
  options: { readonly own?: boolean } = {},
): Promise<OpenAiStage> {
  const { provider, service } = await startWithProvider(flags, options);
  return { service, provider, client: openAiClient(service.url) };
}

/** The official client. It does not repeat calls, so that tests see each answer. */
export function openAiClient(url: string, clientId?: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: keyOf(clientId), maxRetries: 0 });
}

/** Answers piece by piece; with usage. */
export function speak(...pieces: readonly string[]): Script {
  return (wire) => {
    for (const piece of pieces) {
      wire.text(piece);
    }
    wire.finish("stop");
    wire.usage({ prompt_tokens: 7, completion_tokens: pieces.length, total_tokens: 7 + pieces.length });
    wire.done();
  };
}

export type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

/** Returns the text of a stream's deltas. */
export function textOfEvents(events: readonly StreamEvent[]): string {
  return events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
}

/** Returns the response of a stream's last event. */
export function lastResponse(events: readonly StreamEvent[]): OpenAI.Responses.Response {
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) {
    throw new Error(`the stream ended with ${last?.type ?? "nothing"}`);
  }
  return last.response;
}
