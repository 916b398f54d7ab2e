// Model calls of runners: complete answers, streamed answers, reranking, and token counts.
//
// M1  Every call to a provider counts for the quota of its run, regardless of its outcome. Its usage counts for the budgets of
//     the run and of its client's day.
// M2  When the call ends, the request to the provider ends.
// M3  A granted model that the service no longer has gives RESOURCE_NOT_FOUND.
// M4  The runner gets the model's answer, or a failure in this service's words. It never gets the provider's message about a
//     failure.

import type {
  CountTokensRequest,
  InvokeModelRequest,
  InvokeModelStreamRequest,
  RerankRequest,
} from "#gen/runnel/host/v1/host_model_service_pb.js";
import type { UsageTotals } from "../../../agent/budget/usage.ts";
import { callIdOf } from "../../../agent/models/call-id.ts";
import { splitHalfCharacter } from "../../../agent/models/half-character.ts";
import type {
  Model,
  ModelFailure,
  ModelPart,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
} from "../../../agent/models/model.ts";
import type { RankedDocument, Reranker } from "../../../agent/models/rerank/reranker.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { newNonce } from "../../../platform/base/ids.ts";
import { readObjectText } from "../../../platform/base/json/object-text.ts";
import { type AccountDeps, type Asked, type AskingRun, openAccount } from "./account.ts";
import { loadArtifacts } from "./load-artifacts.ts";
import {
  printCallChunk,
  printLastChunk,
  printMessage,
  printTextChunk,
  readConversation,
  readCountable,
  readFunctions,
} from "./messages.ts";
import { modelFault, withheldFault } from "./model-failure.ts";
import { readResponseFormat } from "./response-format.ts";

/** Dependencies of model calls. */
export interface ModelDeps extends AccountDeps {
  /** Throws Fault MODEL_UNSUPPORTED for an unknown model. */
  readonly resolveModel: (id: string) => Model;
  /** Throws Fault MODEL_UNSUPPORTED for an unknown model. */
  readonly resolveReranker: (id: string) => Reranker;
  /** The maximum tokens of an answer when the runner gives no maximum. */
  readonly maxTokens: number;
}

/** The interval of empty pieces that show that a reasoning model, silent for minutes, is alive. */
const lifeSignMs = 15_000;
const documentsMax = 64;
/** The maximum bytes of an answer: leaves room in the message for the rest. */
const answerBytesMax = 3.5 * 1_048_576;
const charsPerToken = 4;

/** A complete answer of a model. */
export interface Answer {
  /** The message as JSON. */
  readonly message: string;
  readonly usage: AnswerUsage;
}

/** The usage of an answer. Figures that the provider did not report are missing. */
export interface AnswerUsage {
  readonly promptTokens?: bigint;
  readonly completionTokens?: bigint;
  readonly totalTokens?: bigint;
}

/** Returns the complete answer of a model. Throws Fault PAYLOAD_TOO_LARGE when only a stream could carry it. */
export async function invokeModel(deps: ModelDeps, run: AskingRun, request: InvokeModelRequest): Promise<Answer> {
  const asked = await readAsked(deps, run, request);
  const calls: ModelToolCall[] = [];
  let text = "";
  for await (const part of converse(deps, run, asked)) {
    if (part.type === "text") {
      text += part.text;
    } else if (part.type === "tool-call") {
      calls.push(part.call);
    } else if (part.type === "finish") {
      const message = printMessage({ text, calls, state: part.state });
      if (Buffer.byteLength(message) > answerBytesMax) {
        throw new Fault(
          "PAYLOAD_TOO_LARGE",
          `the answer is longer than ${answerBytesMax} bytes: use the streaming call`,
        );
      }
      return { message, usage: usageToProto(part.usage) };
    }
  }
  throw new Error("an answer ended without a finish part");
}

/** A piece of a streamed answer, or its usage as the last item. */
export type AnswerPiece = { readonly chunk: string } | { readonly usage: AnswerUsage };

/** Streams the answer of a model. */
export async function* invokeModelStream(
  deps: ModelDeps,
  run: AskingRun,
  request: InvokeModelStreamRequest,
): AsyncGenerator<AnswerPiece> {
  const asked = await readAsked(deps, run, request);
  const pieces = new Pieces();
  let sentMs = deps.clock.monotonicMs();
  for await (const part of converse(deps, run, asked)) {
    const chunks = pieces.of(part);
    const isOverdue = deps.clock.monotonicMs() - sentMs >= lifeSignMs;
    for (const chunk of chunks.length === 0 && isOverdue ? [printTextChunk("")] : chunks) {
      yield { chunk };
      sentMs = deps.clock.monotonicMs();
    }
    if (part.type === "finish") {
      yield { usage: usageToProto(part.usage) };
    }
  }
}

/** Orders documents by their relevance to a query. Throws Fault INVALID_ARGUMENT for an empty query or too many documents. */
export async function rerank(
  deps: ModelDeps,
  run: AskingRun,
  { modelId, query, documents, topK }: RerankRequest,
): Promise<readonly RankedDocument[]> {
  if (query.trim() === "") {
    throw invalidField("query", "is empty: give the text to rank the documents by");
  }
  if (documents.length > documentsMax) {
    throw invalidField("documents", `are ${documents.length}: give at most ${documentsMax}`);
  }
  if (topK < 0) {
    throw invalidField("top_k", `is ${topK}: give the number of documents to return, or 0 for all`);
  }
  const reranker = findGranted(deps.resolveReranker, modelId);
  if (documents.length === 0) {
    return [];
  }
  const resultsMax = topK === 0 ? documents.length : Math.min(topK, documents.length);
  const messages = documents.map((document) => ({ role: "user" as const, text: document }));
  const asked = {
    model: reranker,
    request: { system: query, messages, tools: [], maxTokens: 0, temperature: undefined },
  };
  const account = await openAccount(deps, run, asked);
  let used: UsageTotals = {};
  try {
    const ranking = await reranker.rerank({ query, documents, resultsMax }, run.signal);
    run.signal.throwIfAborted();
    if (ranking.type === "failure") {
      throw modelFault(modelId, ranking);
    }
    used = account.meter.total(readingOf(ranking.tokens ?? account.meter.promptTokens));
    return ranking.documents;
  } finally {
    await account.close(used);
  }
}

/** Estimates the tokens of messages and functions, without a call to a provider. */
export function countTokens(
  { resolveModel }: Pick<ModelDeps, "resolveModel">,
  { modelId, messages, functions }: CountTokensRequest,
): number {
  findGranted(resolveModel, modelId);
  const offered = readFunctions(functions).flatMap(({ name, description, parameters }) => [
    name,
    description,
    JSON.stringify(parameters),
  ]);
  const { texts, mediaTokens } = readCountable(messages);
  const chars = [...texts, ...offered].reduce((sum, text) => sum + countCharacters(text), 0);
  return Math.ceil(chars / charsPerToken) + mediaTokens;
}

interface AskedModel extends Asked {
  readonly modelId: string;
  readonly model: Model;
}

async function readAsked(
  { db, resolveModel, maxTokens }: ModelDeps,
  run: AskingRun,
  { modelId, messages, functions, extraArgs }: InvokeModelRequest | InvokeModelStreamRequest,
): Promise<AskedModel> {
  const extra = readExtraArgs(extraArgs);
  const model = findGranted(resolveModel, modelId);
  const conversation = readConversation(messages);
  const tools = readFunctions(functions);
  return {
    modelId,
    model,
    request: {
      system: conversation.system,
      messages: await loadArtifacts(conversation.messages, { db, run, model }),
      tools,
      temperature: undefined,
      ...extra,
      maxTokens: extra.maxTokens ?? maxTokens,
    },
  };
}

/** Resolves a granted model. The grant is frozen when the run starts, but the settings may change later. */
function findGranted<T>(resolve: (id: string) => T, id: string): T {
  try {
    return resolve(id);
  } catch (error) {
    if (error instanceof Fault && error.reason === "MODEL_UNSUPPORTED") {
      throw new Fault("RESOURCE_NOT_FOUND", `this service no longer has model ${JSON.stringify(id)}`, {
        cause: error,
      });
    }
    throw error;
  }
}

const temperatureMax = 2;
const int32Max = 2 ** 31 - 1;

type ExtraArgs = Partial<Pick<ModelRequest, "maxTokens" | "temperature" | "responseFormat">>;

function readExtraArgs(text: string | undefined): ExtraArgs {
  if (text === undefined || text === "") {
    return {};
  }
  const args = readObjectText(text, "extra_args");
  const temperature = args.findNumber("temperature");
  if (temperature !== undefined && !(temperature >= 0 && temperature <= temperatureMax)) {
    throw invalidField("extra_args.temperature", `is ${temperature}: give 0 to ${temperatureMax}`);
  }
  const maxTokens = args.findNumber("max_tokens");
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens >= 1 && maxTokens <= int32Max)) {
    throw invalidField("extra_args.max_tokens", `is ${maxTokens}: give an integer from 1 to ${int32Max}`);
  }
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    responseFormat: readResponseFormat(args),
  };
}

type AnswerPart = Exclude<ModelPart, ModelFailure>;

/** Yields the parts of the answer until it is finished. Throws on every failure. */
async function* converse(
  deps: ModelDeps,
  run: AskingRun,
  { modelId, ...asked }: AskedModel,
): AsyncGenerator<AnswerPart> {
  const account = await openAccount(deps, run, asked);
  const response = newNonce();
  let callsMade = 0;
  let used: UsageTotals | undefined;
  try {
    const request = { ...asked.request, client: run.scope.client, isPiecewise: account.isLimited };
    for await (const part of asked.model.stream(request, run.signal)) {
      account.meter.read(part);
      if (part.type === "failure") {
        throw modelFault(modelId, part);
      }
      if (part.type === "finish") {
        used = account.meter.total(part.usage);
        if (part.reason === "content-filter") {
          throw withheldFault(modelId);
        }
        yield part;
        return;
      }
      yield part.type === "tool-call" && part.call.id === ""
        ? { ...part, call: { ...part.call, id: callIdOf([response], callsMade) } }
        : part;
      callsMade += part.type === "tool-call" ? 1 : 0;
      await account.assertWithin();
    }
    run.signal.throwIfAborted();
    throw new Error(`model ${modelId} ended without a finish part`);
  } finally {
    // Also when the caller has left.
    await account.close(used ?? account.meter.soFar());
  }
}

/** Prints the parts of an answer as chunks, in whole characters. */
class Pieces {
  #half = "";

  of(part: AnswerPart): string[] {
    switch (part.type) {
      case "text": {
        const [whole, half] = splitHalfCharacter(this.#half + part.text);
        this.#half = half;
        return whole === "" ? [] : [printTextChunk(whole)];
      }
      case "tool-call":
        return [printCallChunk(part.call)];
      case "finish":
        return [...(this.#half === "" ? [] : [printTextChunk(this.#half)]), printLastChunk(part.state)];
      case "artifact":
      case "reasoning":
      case "call-piece":
      case "cut-call":
      case "provider-call":
      case "restart":
      case "usage":
        return [];
      default:
        return part satisfies never;
    }
  }
}

function usageToProto(usage: ModelUsage | undefined): AnswerUsage {
  const { promptTokens, completionTokens, totalTokens } = usage ?? {};
  return {
    ...(promptTokens !== undefined && { promptTokens: BigInt(promptTokens) }),
    ...(completionTokens !== undefined && { completionTokens: BigInt(completionTokens) }),
    ...(totalTokens !== undefined && { totalTokens: BigInt(totalTokens) }),
  };
}

/** Returns the usage of a model that only reads. */
function readingOf(promptTokens: number): ModelUsage {
  return {
    promptTokens,
    completionTokens: 0,
    totalTokens: promptTokens,
    cachedTokens: undefined,
    reasoningTokens: undefined,
  };
}

/** Counts Unicode characters: a surrogate pair counts once. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) {
    count += 1;
  }
  return count;
}
