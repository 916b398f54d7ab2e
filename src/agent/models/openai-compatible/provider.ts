// Models behind the Chat Completions format: OpenAI itself and the many servers that speak it. One provider is one base
// URL, one key and one pool of sockets. Its frames are read here, not by the SDK: most models are behind this format, and
// the SDK's streams cost five times as much as everything else that is done with a piece of text.

import type { IncomingMessage } from "node:http";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "../model.ts";
import type { ModelProvider } from "../route.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { readEvents } from "../wire/events.ts";
import { describeCut, findFailure, hideKey } from "../wire/failures.ts";
import { joinTexts } from "../wire/join.ts";
import type { Transport } from "../wire/transport.ts";
import { chatBody } from "./body.ts";
import { ChatReader } from "./reader.ts";

/** Requests go to `<baseUrl>/chat/completions`; the key, if any, is sent as a bearer token. */
export function createOpenAiCompatible(account: Account): ModelProvider {
  const { transport } = openAccount(account);
  return { model: (name) => createModel(name, { ...account, transport }), close: transport.close };
}

interface Connected extends Account {
  readonly transport: Transport;
}

function createModel(name: string, account: Connected): Model {
  return { provider: account.name, name, stream: (request, signal) => stream(name, account, request, signal) };
}

async function* stream(
  model: string,
  account: Connected,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    return;
  }
  const { name, apiKey } = account;
  const reader = new ChatReader(name);
  try {
    const response = await post(model, account, request, signal);
    for await (const events of readEvents(response, { provider: name, clock: account.clock })) {
      const parts = events.flatMap((data) => reader.read(data));
      for (const part of request.isPiecewise === true ? parts : joinTexts(parts)) {
        if (signal.aborted) {
          return;
        }
        yield hideKey(apiKey, part);
        if (part.type === "failure") {
          return;
        }
      }
    }
    yield* signal.aborted ? [] : reader.end().map((part) => hideKey(apiKey, part));
  } catch (error) {
    if (!signal.aborted) {
      yield hideKey(apiKey, describeTrouble(name, error));
    }
  }
}

function post(model: string, account: Connected, request: ModelRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { name, apiKey, transport } = account;
  const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
  return transport.post("/chat/completions", { headers, body: JSON.stringify(chatBody(model, name, request)), signal });
}

/** What the connection reports carries a code; anything else is a defect of ours, and thrown on. */
function describeTrouble(provider: string, error: unknown): ModelFailure {
  const failure = findFailure(error);
  if (failure === undefined && !(error instanceof Error && "code" in error)) {
    throw error;
  }
  return failure ?? describeCut(provider, error);
}
