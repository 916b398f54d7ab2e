// One response of a model behind the AI SDK, as ModelParts: the same for every provider, whose own ways are its dialect.
// Bytes become events and validated chunks in the SDK; parts.ts makes our parts of them.

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Model, ModelFailure, ModelPart, ModelRequest, ResponseFormat } from "../model.ts";
import { hideKey } from "../wire/failures.ts";
import type { Dialect } from "./dialect.ts";
import { createPartReader, readBrokenStream, readRefusedStream } from "./parts.ts";
import { toCallOptions } from "./prompt.ts";

export interface SdkModelOptions {
  /** Appears in the texts of failures, and says whose a response's state is. */
  readonly provider: string;
  /** Taken out of every text of a failure: some providers say which key they refused. Empty when there is none. */
  readonly apiKey: string;
  /** A function makes one for each response: for formats where what a frame says depends on earlier ones. */
  readonly dialect: Dialect | (() => Dialect);
  readonly createModel: (name: string) => LanguageModelV4;
  readonly takesMediaOfTools?: boolean;
  /** What the provider is asked for besides the request itself. */
  readonly adaptCall?: (
    call: LanguageModelV4CallOptions,
    modelName: string,
    format: ResponseFormat | undefined,
  ) => LanguageModelV4CallOptions;
}

/** Makes models by name. Never fails: only the provider knows which models it has. */
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

// The SDK compiles its schemas anew for each model, which costs more than a short response. Names come from callers, so
// the number kept has a limit; nobody uses this many at a time.
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

async function openStream(
  { provider, dialect, adaptCall }: SdkModelOptions & { readonly dialect: Dialect },
  sdkModel: LanguageModelV4,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart> | ModelFailure> {
  const plain = toCallOptions(request, provider, dialect.stateKind);
  const call = adaptCall === undefined ? plain : adaptCall(plain, sdkModel.modelId, request.responseFormat);
  const left = new AbortController();
  const abortSignal = AbortSignal.any([signal, left.signal]);
  try {
    return (await sdkModel.doStream({ ...call, abortSignal, includeRawChunks: true })).stream;
  } catch (error) {
    // The SDK goes on reading a response whose first frames it refused.
    left.abort();
    const failure = readRefusedStream(dialect, error);
    if (failure !== undefined) {
      return failure;
    }
    throw error;
  }
}
