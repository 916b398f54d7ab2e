// Plays recorded streams through Runnel's own providers, from a real socket, in chunks of odd sizes.

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createAnthropic } from "../../src/agent/models/anthropic/provider.ts";
import { createGemini } from "../../src/agent/models/gemini/provider.ts";
import type { ModelFinish, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import { createOpenAiResponses } from "../../src/agent/models/openai-responses/provider.ts";
import type { Account, ModelProvider } from "../../src/agent/models/wire/account.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { type Answer, nameCall } from "./answer.ts";
import type { Api, Recording } from "./recording.ts";

/** How each API is opened. The name of the model changes nothing in how its response is read. */
const providers: Readonly<Record<Api, { readonly open: (account: Account) => ModelProvider; readonly model: string }>> =
  {
    "Chat Completions": { open: createOpenAiCompatible, model: "gpt-4o" },
    Responses: { open: createOpenAiResponses, model: "gpt-5" },
    Messages: { open: createAnthropic, model: "claude-sonnet-4-5" },
    Gemini: { open: createGemini, model: "gemini-2.5-flash" },
  };

/** Sizes of the chunks, in bytes, one after the other. They cut lines, characters and events at any place. */
const chunkBytes = [17, 1, 251, 3, 4093, 64] as const;

/** More than the largest recording takes. */
const playLimitMs = 60_000;

/** A server that answers with the bytes of a recording. */
export interface Player extends AsyncDisposable {
  /** Plays a recording, with tools of these names, and returns what the product made of it. */
  play(recording: Recording, tools: ReadonlySet<string>): Promise<Answer>;
}

/** Starts the server. */
export async function startPlayer(): Promise<Player> {
  let body = "";
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    writeBody(response, body).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    play: async (recording, tools) => {
      body = recording.body;
      return readParts(await collectParts(recording.api, baseUrl, tools));
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function writeBody(response: ServerResponse, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    const end = start + (chunkBytes[turn % chunkBytes.length] ?? 1);
    response.write(bytes.subarray(start, end));
    start = end;
    // The reader has its turn, so that it sees each chunk by itself.
    await setImmediate();
  }
  response.end();
}

async function collectParts(api: Api, baseUrl: string, tools: ReadonlySet<string>): Promise<readonly ModelPart[]> {
  const { open, model } = providers[api];
  const provider = open({ name: "recorded", baseUrl, apiKey: "", clock: systemClock });
  const request: ModelRequest = {
    system: "",
    messages: [{ role: "user", text: "Hello" }],
    tools: [...tools].map((name) => ({ name, description: "", parameters: { type: "object" } })),
    maxTokens: 1_000,
    temperature: undefined,
  };
  try {
    return await Array.fromAsync(provider.model(model).stream(request, AbortSignal.timeout(playLimitMs)));
  } finally {
    provider.close();
  }
}

/** Turns the parts of one response into an answer. */
export function readParts(parts: readonly ModelPart[]): Answer {
  const ofType = <Type extends ModelPart["type"]>(type: Type): readonly Extract<ModelPart, { type: Type }>[] =>
    parts.filter((part): part is Extract<ModelPart, { type: Type }> => part.type === type);
  const last = parts.at(-1);
  const finish: ModelFinish | undefined = last?.type === "finish" ? last : undefined;
  return {
    text: ofType("text")
      .map(({ text }) => text)
      .join(""),
    reasoning: ofType("reasoning").map(({ text }) => text),
    calls: [
      ...ofType("tool-call").map(({ call: { id, name, argumentsJson } }) => ({ id, name, arguments: argumentsJson })),
      ...ofType("cut-call").map(({ id, name }) => ({ id, name, arguments: undefined })),
    ],
    providerCalls: ofType("provider-call").map(({ call, outcome }) => nameCall(call.name, "json" in outcome)),
    finish: last?.type === "failure" ? "failure" : (finish?.reason ?? "nothing"),
    failure: last?.type === "failure" ? last.message : undefined,
    inputTokens: finish?.usage?.promptTokens,
    outputTokens: finish?.usage?.completionTokens,
  };
}
