// Streams one response of a model behind the AI SDK as ModelParts. This is the same for every provider; the differences are in
// its dialect. The SDK turns bytes into events and validated chunks, and parts.ts turns those into our parts.

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model, ModelFailure, ModelPart, ModelRequest, ResponseFormat } from "../model.ts";
import { hideKey } from "../wire/failures.ts";
import type { Dialect } from "./dialect.ts";
import { createPartReader, readBrokenStream, readRefusedStream } from "./parts.ts";
import { toCallOptions } from "./prompt.ts";

/** A provider's account and the ways in which it differs. */
export interface SdkModelOptions {
  /** The provider's name. It appears in failure messages, and marks the owner of a response's state. */
  readonly provider: string;
  /** Removed from every failure message, because some providers quote the key they refused. May be empty. */
  readonly apiKey: string;
  /** A dialect, or a function that creates one for each response, for formats where frames depend on earlier ones. */
  readonly dialect: Dialect | (() => Dialect);
  readonly createModel: (name: string) => LanguageModelV4;
  readonly takesMediaOfTools?: boolean;
  /** Adds what the provider needs besides the request itself. */
  readonly adaptCall?: (
    call: LanguageModelV4CallOptions,
    modelName: string,
    format: ResponseFormat | undefined,
  ) => LanguageModelV4CallOptions;
}

/** Returns a function that creates models by name. Never fails: only the provider knows its models. */
export function createModels(options: SdkModelOptions): (name: string) => Model {
  const models = new Map<string, Model>();
  return (name) => {
    const model = models.get(name) ?? createSdkModel(options, name);
    if (models.size >= keptModelsMax && !models.has(name)) {
      models.clear();
    }
    models.set(name, model);
    return model;
  };
}

// The SDK compiles its schemas again for each model, which costs more than a short response. Names come from clients, so the
// number of kept models is limited; clients do not use this many at the same time.
const keptModelsMax = 64;

function createSdkModel(options: SdkModelOptions, name: string): Model {
  const sdkModel = options.createModel(name);
  return {
    provider: options.provider,
    name,
    takesMediaOfTools: options.takesMediaOfTools,
    stream: (request, signal) => stream(options, sdkModel, request, signal),
  };
}

async function* stream(
  options: SdkModelOptions,
  sdkModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    return;
  }
  const dialect = typeof options.dialect === "function" ? options.dialect() : options.dialect;
  const opened = await openStream({ ...options, dialect }, sdkModel, request, signal);
  if (signal.aborted) {
    return;
  }
  if ("type" in opened) {
    yield hideKey(options.apiKey, opened);
    return;
  }
  const read = createPartReader(options.provider, dialect);
  try {
    for await (const part of opened) {
      for (const result of read(part)) {
        if (signal.aborted) {
          return;
        }
        yield hideKey(options.apiKey, result);
        if (result.type === "finish" || result.type === "failure") {
          return;
        }
      }
    }
    if (!signal.aborted) {
      yield* read(undefined).map((part) => hideKey(options.apiKey, part));
    }
  } catch (error) {
    if (!signal.aborted) {
      yield hideKey(options.apiKey, readBrokenStream(options.provider, error));
    }
  }
}

/** Adds the caller's options. Those that the adapted call has already keep their values. */
function withOptions(
  call: LanguageModelV4CallOptions,
  provider: string,
  { providerOptions }: ModelRequest,
): LanguageModelV4CallOptions {
  if (providerOptions === undefined) {
    return call;
  }
  const name = provider === "gemini" ? "google" : provider;
  const own = call.providerOptions?.[name];
  const options = { ...providerOptions, ...own } as NonNullable<typeof own>;
  return { ...call, providerOptions: { ...call.providerOptions, [name]: options } };
}

async function openStream(
  { provider, dialect, adaptCall }: SdkModelOptions & { readonly dialect: Dialect },
  sdkModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart> | ModelFailure> {
  const plain = toCallOptions(request, provider, dialect.stateKind);
  const adapted = adaptCall === undefined ? plain : adaptCall(plain, sdkModel.modelId, request.responseFormat);
  const call = withOptions(adapted, provider, request);
  const left = new AbortController();
  const abortSignal = AbortSignal.any([signal, left.signal]);
  try {
    return (await sdkModel.doStream({ ...call, abortSignal, includeRawChunks: true })).stream;
  } catch (error) {
    // The SDK keeps reading a response even after it refused the first frames.
    left.abort();
    const failure = readRefusedStream(dialect, error);
    if (failure !== undefined) {
      return failure;
    }
    throw error;
  }
}
