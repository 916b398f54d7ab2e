// What a runner may do with models: have them answer, whole or piece by piece, order documents, and count tokens.
//
// M1  Every call to a provider counts for the quota of its run, whatever becomes of it, and what it uses counts for the budgets
//     of the run and of its client's day.
// M2  When the call ends, the request to the provider ends.
// M3  A model that was granted and that the service does not have any more is RESOURCE_NOT_FOUND.
// M4  What comes back is the model's, or a failure in our words; never what its provider wrote about it.

import type {
  CountTokensRequest,
  InvokeModelRequest,
  InvokeModelStreamRequest,
  RerankRequest,
} from "#gen/runnel/host/v1/host_model_service_pb.js";
import type { UsageTotals } from "../../../agent/budget/usage.ts";
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

export interface ModelDeps extends AccountDeps {
  /** Throws MODEL_UNSUPPORTED. */
  readonly resolveModel: (id: string) => Model;
  /** Throws MODEL_UNSUPPORTED. */
  readonly resolveReranker: (id: string) => Reranker;
  /** Tokens of an answer whose caller says nothing of it. */
  readonly maxTokens: number;
}

/** A model that thinks says nothing for minutes; a piece without text tells that it is alive. */
const lifeSignMs = 15_000;
const documentsMax = 64;
/** What fits into a message, with room for what is beside it. */
const answerBytesMax = 3.5 * 1_048_576;
const charsPerToken = 4;

export interface Answer {
  /** JSON. */
  readonly message: string;
  readonly usage: AnswerUsage;
}

/** A figure that the provider did not give is not there. */
export interface AnswerUsage {
  readonly promptTokens?: bigint;
  readonly completionTokens?: bigint;
  readonly totalTokens?: bigint;
}

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
        throw new Fault("PAYLOAD_TOO_LARGE", `the answer is longer than ${answerBytesMax} bytes: have it streamed`);
      }
      return { message, usage: usageToProto(part.usage) };
    }
  }
  throw new Error("an answer ended without an end");
}

/** Either a piece, or, as the last one, what was used. */
export type AnswerPiece = { readonly chunk: string } | { readonly usage: AnswerUsage };

export async function* invokeModelStream(
  deps: ModelDeps,
  run: AskingRun,
  request: InvokeModelStreamRequest,
): AsyncGenerator<AnswerPiece> {
  const asked = await readAsked(deps, run, request);
  const pieces = new Pieces();
  let toldMs = deps.clock.monotonicMs();
  for await (const part of converse(deps, run, asked)) {
    const chunks = pieces.of(part);
    const isOverdue = deps.clock.monotonicMs() - toldMs >= lifeSignMs;
    for (const chunk of chunks.length === 0 && isOverdue ? [printTextChunk("")] : chunks) {
      yield { chunk };
      toldMs = deps.clock.monotonicMs();
    }
    if (part.type === "finish") {
      yield { usage: usageToProto(part.usage) };
    }
  }
}

export async function rerank(
  deps: ModelDeps,
  run: AskingRun,
  { modelId, query, documents, topK }: RerankRequest,
): Promise<readonly RankedDocument[]> {
  if (query.trim() === "") {
    throw invalidField("query", "is empty: say what the documents shall answer");
  }
  if (documents.length > documentsMax) {
    throw invalidField("documents", `are ${documents.length}: give at most ${documentsMax}`);
  }
  if (topK < 0) {
    throw invalidField("top_k", `is ${topK}: give how many to return, or 0 for all`);
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

/** An estimate, and no call to anybody. */
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

/** The grant is frozen when its run starts, and settings change. */
function findGranted<T>(resolve: (id: string) => T, id: string): T {
  try {
    return resolve(id);
  } catch (error) {
    if (error instanceof Fault && error.reason === "MODEL_UNSUPPORTED") {
      throw new Fault("RESOURCE_NOT_FOUND", `this service has no model ${JSON.stringify(id)} any more`, {
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

type SpokenPart = Exclude<ModelPart, ModelFailure>;

/** What the model says, until it has finished; everything else is thrown. */
async function* converse(
  deps: ModelDeps,
  run: AskingRun,
  { modelId, ...asked }: AskedModel,
): AsyncGenerator<SpokenPart> {
  const account = await openAccount(deps, run, asked);
  let used: UsageTotals | undefined;
  try {
    const request = { ...asked.request, isPiecewise: account.isLimited };
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
      yield part;
      await account.assertWithin();
    }
    run.signal.throwIfAborted();
    throw new Error(`model ${modelId} ended without an end`);
  } finally {
    // Also when nobody waits for the rest any more.
    await account.close(used ?? account.meter.soFar());
  }
}

/** What of an answer its runner is sent, in whole characters. */
class Pieces {
  #half = "";

  of(part: SpokenPart): string[] {
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
      case "reasoning":
      case "call-piece":
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

/** Of a model that only reads. */
function readingOf(promptTokens: number): ModelUsage {
  return {
    promptTokens,
    completionTokens: 0,
    totalTokens: promptTokens,
    cachedTokens: undefined,
    reasoningTokens: undefined,
  };
}

/** Those that people see: halves of one in UTF-16 are one. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) {
    count += 1;
  }
  return count;
}
