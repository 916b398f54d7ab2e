// Models behind the Chat Completions format: OpenAI itself and the many servers that speak it. One provider is one base
// URL, one key and one pool of sockets. Bytes become events and validated chunks in the AI SDK; parts.ts makes our parts.

import { createOpenAICompatible as createSdkProvider } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "../model.ts";
import { findFailure } from "./failures.ts";
import { adaptParameters } from "./parameters.ts";
import { createPartReader, readBrokenStream } from "./parts.ts";
import { toCallOptions } from "./prompt.ts";
import { createTransport } from "./transport.ts";

export interface OpenAiCompatibleOptions {
  /** Appears in the texts of failures. */
  readonly name: string;
  /** Requests go to `<baseUrl>/chat/completions`; a trailing slash does not matter. */
  readonly baseUrl: string;
  /** Sent as a bearer token; empty for servers that want none. */
  readonly apiKey: string;
  readonly clock: Clock;
}

export interface OpenAiCompatibleProvider {
  /** Never fails: only the provider knows which models it has. */
  model(name: string): Model;
  /** Ends the responses under way as failures and closes the pool. */
  close(): void;
}

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): OpenAiCompatibleProvider {
  const baseUrl = parseBaseUrl(options);
  const transport = createTransport({ provider: options.name, baseUrl, apiKey: options.apiKey, clock: options.clock });
  const sdkProvider = createSdkProvider({
    name: options.name,
    baseURL: baseUrl.href.replace(/\/+$/, ""),
    apiKey: options.apiKey,
    fetch: transport.fetch,
    includeUsage: true,
    transformRequestBody: adaptParameters,
  });
  const models = new Map<string, Model>();

  function makeModel(name: string): Model {
    const sdkModel = sdkProvider.chatModel(name);
    return { name, stream: (request, signal) => streamResponse(options.name, sdkModel, request, signal) };
  }

  return {
    model: (name) => {
      const model = models.get(name) ?? makeModel(name);
      if (models.size >= keptModelsMax && !models.has(name)) {
        models.clear();
      }
      models.set(name, model);
      return model;
    },
    close: transport.close,
  };
}

// The SDK compiles its schemas anew for each model, which costs more than a short response. Names come from callers, so
// the number kept has a limit; nobody uses this many at a time.
const keptModelsMax = 64;

function parseBaseUrl({ name, baseUrl }: OpenAiCompatibleOptions): URL {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Fault(
      "CONFIG_INVALID",
      `base URL of provider ${name} is "${baseUrl}": give an http or https URL such as https://api.openai.com/v1`,
    );
  }
  return url;
}

async function* streamResponse(
  provider: string,
  sdkModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    return;
  }
  const opened = await openStream(sdkModel, request, signal);
  if (signal.aborted) {
    return;
  }
  if ("type" in opened) {
    yield opened;
    return;
  }
  const read = createPartReader(provider);
  try {
    for await (const part of opened) {
      for (const result of read(part)) {
        if (signal.aborted) {
          return;
        }
        yield result;
        if (result.type === "finish" || result.type === "failure") {
          return;
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      yield readBrokenStream(provider, error);
    }
  }
}

async function openStream(
  sdkModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart> | ModelFailure> {
  try {
    const call = { ...toCallOptions(request), abortSignal: signal, includeRawChunks: true };
    return (await sdkModel.doStream(call)).stream;
  } catch (error) {
    const failure = findFailure(error);
    if (failure !== undefined) {
      return failure;
    }
    throw error;
  }
}
