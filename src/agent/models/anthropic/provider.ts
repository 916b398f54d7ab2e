// Models behind Anthropic's Messages format. A provider has one base URL, one key and one socket pool.

import type { IncomingMessage } from "node:http";
import { printJson } from "../../../platform/base/json/exact.ts";
import type { Model, ModelRequest } from "../model.ts";
import { type Account, type ModelProvider, openAccount } from "../wire/account.ts";
import { countedFields, readCount } from "../wire/count.ts";
import { streamResponse } from "../wire/stream.ts";
import type { Transport } from "../wire/transport.ts";
import { betaHeader, messagesBody } from "./body.ts";
import { openTurnOf } from "./open-turn.ts";
import { MessagesReader } from "./reader.ts";
import { anthropicSettings } from "./settings.ts";
import { turnsOf } from "./turns.ts";

/** Creates the provider. Requests go to `<baseUrl>/messages`; a key that is not empty is sent as `x-api-key`. */
export function createAnthropic(account: Account): ModelProvider {
  const transport = openAccount(account);
  return { model: (name) => createModel(name, account, transport), close: transport.close };
}

/** Returns the headers of every request; an empty key is not sent. */
export function anthropicHeaders(apiKey: string): Record<string, string> {
  return { "anthropic-version": "2023-06-01", ...(apiKey !== "" && { "x-api-key": apiKey }) };
}

function createModel(name: string, account: Account, transport: Transport): Model {
  const origin = { provider: account.name, model: name };
  return {
    provider: account.name,
    name,
    takesMediaOfTools: true,
    settings: anthropicSettings,
    stream: (request, signal) => {
      const turns = turnsOf(request.messages, origin);
      const post = (): Promise<IncomingMessage> =>
        transport.post("/messages", {
          headers: headersOf(account, request),
          body: printJson(messagesBody(name, request, turns)),
          signal,
          recorder: request.recorder,
        });
      const reader = new MessagesReader(origin, openTurnOf(turns).calls, request.takesRestart);
      return streamResponse({ account, post, reader }, request, signal);
    },
    count: async (request, signal) => {
      const body = countedFields(messagesBody(name, request, turnsOf(request.messages, origin)), counted);
      const post = { headers: headersOf(account, request), body: printJson(body), signal };
      return readCount(await transport.ask("/messages/count_tokens", post), "input_tokens");
    },
  };
}

const counted = [
  ...["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "output_format"],
  ...["mcp_servers", "cache_control", "context_management", "compaction", "speed"],
];

function headersOf({ apiKey }: Account, request: ModelRequest): Record<string, string> {
  const betas = betaHeader(request);
  return {
    ...anthropicHeaders(apiKey),
    ...(betas !== undefined && { "anthropic-beta": betas }),
  };
}
