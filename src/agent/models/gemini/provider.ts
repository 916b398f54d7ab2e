// Gemini models behind Google's generateContent format. A provider has one base URL, one key and one socket pool.

import type { IncomingMessage } from "node:http";
import { printJson } from "../../../platform/base/json/exact.ts";
import type { Model, ModelPart, ModelRequest } from "../model.ts";
import { type Account, type ModelProvider, openAccount } from "../wire/account.ts";
import { readCount } from "../wire/count.ts";
import { streamResponse } from "../wire/stream.ts";
import type { Post, Transport } from "../wire/transport.ts";
import { contentBody } from "./body.ts";
import { ContentReader } from "./reader.ts";
import { geminiSettings } from "./settings.ts";

/** Creates the provider. Requests go to `<baseUrl>/models/<model>:streamGenerateContent`; a key goes to `x-goog-api-key`. */
export function createGemini(account: Account): ModelProvider {
  const transport = openAccount(account);
  const connected = { ...account, transport };
  return { model: (name) => createModel(name, connected), close: transport.close };
}

/** Returns the header of a key; an empty key is not sent. */
export function geminiHeaders(apiKey: string): Record<string, string> {
  return apiKey === "" ? {} : { "x-goog-api-key": apiKey };
}

interface Connected extends Account {
  readonly transport: Transport;
}

function createModel(name: string, account: Connected): Model {
  return {
    provider: account.name,
    name,
    settings: geminiSettings,
    stream: (request, signal) => stream(name, account, request, signal),
    count: async (request, signal) => {
      const body = contentBody({ provider: account.name, model: name }, request);
      const asked = { generateContentRequest: { model: `models/${name}`, ...body } };
      return readCount(
        await account.transport.ask(...post(name, account, "countTokens", asked, signal)),
        "totalTokens",
      );
    },
  };
}

/** Streams a response. The provider may give a long one in pieces, and wants the same request with a token for each further piece. */
async function* stream(
  model: string,
  account: Connected,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const origin = { provider: account.name, model };
  const { recorder } = request;
  const body = contentBody(origin, request);
  const reader = new ContentReader(origin);
  let continuationToken: string | undefined;
  do {
    const sent = continuationToken === undefined ? body : { ...body, continuationToken };
    const send = (): Promise<IncomingMessage> => {
      const [path, asked] = post(model, account, "streamGenerateContent?alt=sse", sent, signal);
      return account.transport.post(path, { ...asked, recorder });
    };
    yield* streamResponse({ account, post: send, reader }, request, signal);
    continuationToken = reader.takeContinuation();
  } while (continuationToken !== undefined);
}

/** Returns the path and the request of a method. A name must not reach another path, so it is one segment. */
function post(model: string, { apiKey }: Account, method: string, body: object, signal: AbortSignal): [string, Post] {
  const segment = encodeURIComponent(model.toWellFormed());
  return [`/models/${segment}:${method}`, { headers: geminiHeaders(apiKey), body: printJson(body), signal }];
}
