// OpenAI's models behind the Responses format, and the servers that are compatible with it.

import { printJson } from "../../../platform/base/json/exact.ts";
import type { Model } from "../model.ts";
import { type Account, bearerHeaders, type ModelProvider, openAccount } from "../wire/account.ts";
import { countedFields, readCount } from "../wire/count.ts";
import { streamResponse } from "../wire/stream.ts";
import type { Transport } from "../wire/transport.ts";
import { responsesBody } from "./body.ts";
import { openProgramsOf } from "./open-turn.ts";
import { ResponsesReader } from "./reader.ts";
import { responsesSettings } from "./settings.ts";

/** Creates the provider. Requests go to `<baseUrl>/responses`; a key that is not empty is sent as a bearer token. */
export function createOpenAiResponses(account: Account): ModelProvider {
  const transport = openAccount(account);
  return { model: (name) => createModel(name, account, transport), close: transport.close };
}

function createModel(name: string, account: Account, transport: Transport): Model {
  const headers = bearerHeaders(account.apiKey);
  const origin = { provider: account.name, model: name };
  return {
    provider: account.name,
    name,
    takesMediaOfTools: true,
    settings: responsesSettings,
    stream: (request, signal) => {
      const post: Parameters<typeof streamResponse>[0]["post"] = () => {
        const body = printJson(responsesBody(origin, request));
        return transport.post("/responses", { headers, body, signal, recorder: request.recorder });
      };
      const offered = new Set(request.tools.map((tool) => tool.name));
      const reader = new ResponsesReader(origin, offered, openProgramsOf(request.messages, origin));
      return streamResponse({ account, post, reader }, request, signal);
    },
    count: async (request, signal) => {
      const body = printJson(countedFields(responsesBody(origin, request), counted));
      return readCount(await transport.ask("/responses/input_tokens", { headers, body, signal }), "input_tokens");
    },
  };
}

const counted = [
  ...["model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning"],
  ...["truncation", "personality"],
];
