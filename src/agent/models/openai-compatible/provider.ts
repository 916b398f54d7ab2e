// Models behind the Chat Completions format: OpenAI and the many compatible servers. A provider has one base URL, one key and
// one socket pool. We read its frames without the SDK, because most models use this format. The SDK's streams cost five times
// as much as all the other work on a piece of text.

import type { IncomingMessage } from "node:http";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "../model.ts";
import type { ModelProvider } from "../route.ts";
import { type Account, openAccount } from "../wire/account.ts";
import { EventStream } from "../wire/events.ts";
import { describeCut, findFailure, hideKey } from "../wire/failures.ts";
import { joinTexts } from "../wire/join.ts";
import type { Transport } from "../wire/transport.ts";
import { chatBody } from "./body.ts";
import { isReasoningModel } from "./parameters.ts";
import { ChatReader } from "./reader.ts";

/** Creates the provider. Requests go to `<baseUrl>/chat/completions`; a key that is not empty is sent as a bearer token. */
export function createOpenAiCompatible(account: Account): ModelProvider {
  const { transport } = openAccount(account);
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
  const { name, apiKey, clock } = account;
  const reader = new ChatReader(name);
  const join = request.isPiecewise === true ? (parts: readonly ModelPart[]) => parts : joinTexts;
  let spoke = false;
  const offer = (parts: readonly ModelPart[]): readonly ModelPart[] =>
    spoke && !signal.aborted ? giveParts(join(parts), request.takePart) : parts;
  try {
    const response = await post(model, account, request, signal);
    using events: EventStream<ModelPart> = new EventStream(response, {
      provider: name,
      clock,
      read: (data, event) => reader.read(data, event),
      offer,
    });
    for (let parts = await events.next(); parts !== undefined; parts = await events.next()) {
      for (const part of join(parts)) {
        if (signal.aborted) {
          return;
        }
        yield hideKey(apiKey, part);
        if (part.type === "failure") {
          return;
        }
        spoke ||= part.type === "text" || part.type === "reasoning";
      }
    }
    yield* signal.aborted ? [] : reader.end(events.isMarked).map((part) => hideKey(apiKey, part));
  } catch (error) {
    if (!signal.aborted) {
      yield hideKey(apiKey, describeTrouble(name, error));
    }
  }
}

/** Gives parts to the caller without a pull. Returns the parts from the first one on that it has not taken. */
function giveParts(parts: readonly ModelPart[], take: ModelRequest["takePart"]): readonly ModelPart[] {
  const refused = parts.findIndex((part) => take?.(part) !== true);
  return refused === -1 ? [] : parts.slice(refused);
}

/** Sends the request; once more in the form that the server names when it refuses `max_tokens`. */
async function post(
  model: string,
  account: Connected,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { name, apiKey, transport, reasoning } = account;
  const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
  const send = (reasons: boolean): Promise<IncomingMessage> =>
    transport.post("/chat/completions", {
      headers,
      body: JSON.stringify(chatBody(model, name, request, reasons)),
      signal,
    });
  const reasons = isReasoningModel(model) || reasoning.has(model);
  try {
    return await send(reasons);
  } catch (error) {
    if (reasons || !refusesMaxTokens(error)) {
      throw error;
    }
    const response = await send(true);
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

/** Describes an error of the connection, which carries a code. Any other error is a defect of ours and is rethrown. */
function describeTrouble(provider: string, error: unknown): ModelFailure {
  const failure = findFailure(error);
  if (failure === undefined && !(error instanceof Error && "code" in error)) {
    throw error;
  }
  return failure ?? describeCut(provider, error);
}
