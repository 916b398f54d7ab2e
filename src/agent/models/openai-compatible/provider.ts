// Models behind the Chat Completions format: OpenAI and the many compatible servers. A provider has one base URL, one key and
// one socket pool.

import type { IncomingMessage } from "node:http";
import { printJson } from "../../../platform/base/json/exact.ts";
import type { Model, ModelRequest } from "../model.ts";
import { type Account, bearerHeaders, type ModelProvider, openAccount } from "../wire/account.ts";
import { findFailure } from "../wire/failures.ts";
import { streamResponse } from "../wire/stream.ts";
import type { Transport } from "../wire/transport.ts";
import { chatBody } from "./body.ts";
import { isReasoningModel } from "./parameters.ts";
import { ChatReader } from "./reader.ts";
import { settingsOf } from "./settings.ts";

/** Creates the provider. Requests go to `<baseUrl>/chat/completions`; a key that is not empty is sent as a bearer token. */
export function createOpenAiCompatible(account: Account): ModelProvider {
  const transport = openAccount(account);
  const connected = { ...account, transport, reasoning: new Set<string>() };
  return { model: (name) => createModel(name, connected), close: transport.close };
}

interface Connected extends Account {
  readonly transport: Transport;
  /** Models that have turned out to reason: they refuse `max_tokens`. */
  readonly reasoning: Set<string>;
}

/** More than any account has. Clients may name any model, so the set must not grow with them. */
const reasoningMax = 256;

function createModel(name: string, account: Connected): Model {
  return {
    provider: account.name,
    name,
    settings: settingsOf(account.name),
    // OpenAI runs tools itself with Responses alone. Other servers have such tools here.
    lacksProviderTools: account.name === "openai",
    stream: (request, signal) => {
      const post = (): Promise<IncomingMessage> => send(name, account, request, signal);
      return streamResponse(
        { account, post, reader: new ChatReader({ provider: account.name, model: name }) },
        request,
        signal,
      );
    },
  };
}

/** Sends the request; once more in the form that the server names when it refuses `max_tokens`. */
async function send(
  model: string,
  account: Connected,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { name, apiKey, transport, reasoning } = account;
  const headers = bearerHeaders(apiKey);
  const post = (reasons: boolean): Promise<IncomingMessage> =>
    transport.post("/chat/completions", {
      headers,
      body: printJson(chatBody({ provider: name, model }, request, reasons)),
      signal,
      recorder: request.recorder,
    });
  const reasons = isReasoningModel(model) || reasoning.has(model);
  try {
    return await post(reasons);
  } catch (error) {
    if (reasons || !refusesMaxTokens(error)) {
      throw error;
    }
    const response = await post(true);
    const [oldest] = reasoning;
    if (reasoning.size === reasoningMax && oldest !== undefined) {
      reasoning.delete(oldest);
    }
    reasoning.add(model);
    return response;
  }
}

/** As in `Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.`. Some servers give a code alone. */
const successor = /\buse\W{1,4}max_completion_tokens\b|\bmax_completion_tokens\W{1,4}instead\b/i;

/** Whether a server refuses the parameter `max_tokens`. Errors of other kinds, such as of a value that is too large, name it too. */
function refusesMaxTokens(error: unknown): boolean {
  const { cause, message = "", providerCode } = findFailure(error) ?? {};
  const isOfParameter = providerCode === "unsupported_parameter" || successor.test(message);
  return cause === "invalid_request" && /\bmax_tokens\b/.test(message) && isOfParameter;
}
