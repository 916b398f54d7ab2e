// Reads one response of a model: streams its text into the log, keeps it within its budgets, and collects calls and usage for
// the loop.

import { create } from "@bufbuild/protobuf";
import { type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { DriverStep, RunContext } from "../../engine/runs/driver.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import type { ChatSpan } from "../../platform/telemetry/traces.ts";
import type { Amount, DayBudget } from "../budget/day-budget.ts";
import { type BudgetReached, Spending } from "../budget/spending.ts";
import { Meter, type UsageTotals } from "../budget/usage.ts";
import { artifactIdOf, callIdOf } from "../models/call-id.ts";
import { priceOf } from "../models/catalogue.ts";
import { splitHalfCharacter } from "../models/half-character.ts";
import type {
  FinishReason,
  Model,
  ModelArtifact,
  ModelCitation,
  ModelFailure,
  ModelFinish,
  ModelLogprob,
  ModelPart,
  ModelRequest,
  ModelSpeech,
  ModelToolCall,
  ProviderOutcome,
} from "../models/model.ts";
import { telemetryNameOf } from "../models/providers.ts";
import { KeptLogprobs } from "./logprobs.ts";
import { printMessages, printResponse } from "./span-content.ts";

/** A complete response of a model. */
export interface Response {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The calls of a response that its token limit has cut. They have no arguments, and must not run. */
  readonly cutCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  /** The reason that the provider gave for withholding the response. */
  readonly detail: string | undefined;
  readonly stopSequence: string | undefined;
  readonly state: string | undefined;
  readonly citations: readonly ModelCitation[];
  /** Those that a message may have. The log has the others with their text. */
  readonly logprobs: readonly ModelLogprob[];
  readonly usage: UsageTotals;
}

/** A response that did not complete. */
export interface NoResponse {
  readonly why: ModelFailure | BudgetReached | "aborted";
  /** True when the log holds part of the response. */
  readonly spoke: boolean;
  readonly usage: UsageTotals;
}

/** What a response needs of its run. Without `tryAppend` every part is a step, which the caller may change. */
export type ResponseContext = Pick<RunContext, "runId" | "client" | "signal" | "span"> &
  Partial<Pick<RunContext, "tryAppend">>;

/** One request to a model, and the budgets it must keep. */
export interface ResponseOptions {
  readonly context: ResponseContext;
  readonly model: Model;
  readonly request: ModelRequest;
  readonly turn: number;
  /**
   * The results that begin the turn. They are written first, and again when the response begins again, which voids everything since
   * the last checkpoint. Undefined when the turn may not begin again.
   */
  readonly opening?: readonly ResultInit[];
  /** The usage of the run before this response. */
  readonly before: UsageTotals;
  readonly runMax: Amount;
  readonly dayBudget: DayBudget;
  /** True for a call that the service never keeps: it may have secrets that are no settings. */
  readonly isSecret?: true;
}

/** Sends the request and yields the response's text as steps. Returns the response, or why there is no complete one. */
export async function* respond(options: ResponseOptions): AsyncGenerator<DriverStep, Response | NoResponse> {
  const { context, model, request, turn, before, runMax, dayBudget } = options;
  const { client, signal } = context;
  const price = priceOf(model);
  const meter = new Meter(request, price);
  const spending = new Spending({ client, runMax, day: dayBudget, price, before, meter, signal });
  const span = context.span.startChat({
    provider: telemetryNameOf(model.provider),
    model: model.name,
    maxTokens: request.maxTokens,
    temperature: request.temperature,
    turn,
    input: () => printMessages(request.messages),
  });
  let outcome: Response | NoResponse | undefined;
  try {
    yield* (options.opening ?? []).map(append);
    const reached = await spending.open();
    outcome =
      reached === undefined
        ? yield* read({ ...options, meter, spending, span })
        : { why: reached, spoke: false, usage: {} };
    return outcome;
  } finally {
    // This also runs when the caller stops reading early.
    const usage = outcome?.usage ?? meter.soFar();
    await spending.close(usage);
    span.end(endOfSpan(outcome, usage));
  }
}

interface Reading extends ResponseOptions {
  readonly meter: Meter;
  readonly spending: Spending;
  readonly span: ChatSpan;
}

async function* read({
  context,
  model,
  request,
  turn,
  opening,
  isSecret,
  meter,
  spending,
  span,
}: Reading): AsyncGenerator<DriverStep, Response | NoResponse> {
  const { runId, client, signal, tryAppend } = context;
  const parts = new ResponseParts(runId, turn);
  let began = false;
  failpoint("model.calling");
  // Parts are read one by one when a budget applies: text that was not shown before the budget ended does not count as used.
  const takePart = (part: ModelPart): boolean => {
    const isTaken = tryAppend !== undefined && !spending.isLimited && parts.take(part, tryAppend);
    if (isTaken) {
      meter.read(part);
    }
    return isTaken;
  };
  const asked = {
    ...request,
    ...{ client, isPiecewise: spending.isLimited, takePart, takesRestart: opening !== undefined },
    ...(isSecret !== true && { askedBy: { runId, turn } }),
  };
  for await (const part of model.stream(asked, signal)) {
    if (!began) {
      began = true;
      failpoint("model.first-part");
      span.firstPart();
    }
    meter.read(part);
    yield* part.type === "restart" ? parts.restart(opening ?? []) : parts.add(part);
    if (part.type === "finish") {
      failpoint("model.finished");
      return parts.whole(part, meter);
    }
    if (part.type === "failure") {
      return { why: part, spoke: parts.spoke, usage: meter.soFar() };
    }
    const reached = spending.isLimited ? await spending.check() : undefined;
    if (reached !== undefined) {
      return { why: reached, spoke: parts.spoke, usage: meter.soFar() };
    }
  }
  return { why: "aborted", spoke: parts.spoke, usage: meter.soFar() };
}

/** Collects the parts of a response as they arrive. */
class ResponseParts {
  readonly #runId: string;
  readonly #turn: number;
  readonly #toolCalls: ToolCall[] = [];
  readonly #cutCalls: ToolCall[] = [];
  #logprobs = new KeptLogprobs();
  #providerCalls = 0;
  #artifacts = 0;
  #text = "";
  #half = "";
  #spoke = false;

  constructor(runId: string, turn: number) {
    this.#runId = runId;
    this.#turn = turn;
  }

  get spoke(): boolean {
    return this.#spoke;
  }

  /** Drops all parts. Returns the steps that void them in the log, and begin the turn again. */
  restart(opening: readonly ResultInit[]): DriverStep[] {
    [this.#text, this.#half, this.#providerCalls, this.#artifacts] = ["", "", 0, 0];
    this.#toolCalls.length = 0;
    this.#cutCalls.length = 0;
    this.#logprobs = new KeptLogprobs();
    return [{ kind: "restart", turn: this.#turn }, ...opening.map(append)];
  }

  /** Takes text or reasoning and appends it. Returns false when it has taken nothing. */
  take(part: ModelPart, append: (result: ResultInit) => boolean): boolean {
    const isTaken =
      part.type === "text"
        ? this.#takeText(part, append)
        : part.type === "reasoning" && append({ payload: { case: "reasoningDelta", value: { content: part.text } } });
    this.#spoke ||= isTaken;
    return isTaken;
  }

  /** Returns the steps that write the part into the log. */
  add(part: Exclude<ModelPart, { type: "restart" }>): DriverStep[] {
    switch (part.type) {
      case "text":
      case "reasoning": {
        const steps: DriverStep[] = [];
        this.take(part, (result) => steps.push({ kind: "append", result }) > 0);
        return steps;
      }
      case "tool-call": {
        const { id, name, argumentsJson } = part.call;
        this.#toolCalls.push(this.#callOf(id, name, argumentsJson));
        return [];
      }
      case "provider-call":
        return this.#providerCall(part.call, part.outcome);
      case "artifact":
        return [this.#artifact(part)];
      case "cut-call":
        this.#cutCalls.push(this.#callOf(part.id, part.name, "{}"));
        return [];
      case "finish":
        return this.#half === "" ? [] : [{ kind: "append", result: textDelta(this.#half, this.#turn) }];
      case "call-piece":
      case "usage":
      case "failure":
        return [];
      default:
        return part satisfies never;
    }
  }

  whole({ reason, detail, stopSequence, state, usage, citations = [] }: ModelFinish, meter: Meter): Response {
    const [toolCalls, cutCalls] = [this.#toolCalls, this.#cutCalls];
    return {
      text: this.#text,
      toolCalls,
      cutCalls,
      finishReason: reason,
      detail,
      stopSequence,
      state,
      citations,
      logprobs: this.#logprobs.all,
      usage: meter.total(usage),
    };
  }

  #providerCall(call: ModelToolCall, outcome: ProviderOutcome): DriverStep[] {
    this.#spoke = true;
    const id = call.id || callIdOf([this.#runId, this.#turn, "provider"], this.#providerCalls);
    this.#providerCalls += 1;
    return [providerCall({ ...call, id }, outcome)];
  }

  #artifact(part: ModelArtifact): DriverStep {
    this.#spoke = true;
    const id = part.id || artifactIdOf([this.#runId, this.#turn], this.#artifacts);
    this.#artifacts += 1;
    return append(artifactCreated({ ...part, id }));
  }

  #callOf(id: string, name: string, json: string): ToolCall {
    const place = this.#toolCalls.length + this.#cutCalls.length;
    return create(ToolCallSchema, { id: id || callIdOf([this.#runId, this.#turn], place), name, arguments: json });
  }

  #takeText({ text: piece, logprobs }: ModelSpeech, append: (result: ResultInit) => boolean): boolean {
    const [whole, half] = splitHalfCharacter(this.#half + piece);
    if ((whole !== "" || logprobs !== undefined) && !append(textDelta(whole, this.#turn, logprobs))) {
      return false;
    }
    this.#half = half;
    this.#text += piece;
    if (logprobs !== undefined) {
      this.#logprobs.add(logprobs);
    }
    return true;
  }
}

/** Writes the call of a provider's own tool in one transaction with its result: a crash between them would leave the call open. */
function providerCall({ id, name, argumentsJson }: ModelToolCall, outcome: ProviderOutcome): DriverStep {
  const call = { toolCallId: id, toolName: name, runByProvider: true };
  const parameters = parseObject(argumentsJson) === undefined ? "{}" : argumentsJson;
  const result = "json" in outcome ? { result: contentOf(outcome.json) } : { error: outcome.error };
  const started: ResultInit = { payload: { case: "toolCallStarted", value: { ...call, parameters } } };
  const completed: ResultInit = { payload: { case: "toolCallCompleted", value: { ...call, ...result } } };
  return { kind: "commit", results: [started, completed], effects: {} };
}

/** Returns the result of a provider's own tool, given its JSON. */
export function contentOf(json: string): string {
  return `${contentStart}${json}}`;
}

/** Returns the JSON in such a result. */
export function contentJsonOf(result: string): string {
  return result.slice(contentStart.length, -1);
}

const contentStart = '{"content":';

function append(result: ResultInit): DriverStep {
  return { kind: "append", result };
}

function artifactCreated({ id, kind, mediaType, sizeBytes, sha256, content, url }: ModelArtifact): ResultInit {
  const value = {
    ...{ artifactType: kind, artifactId: id },
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(sizeBytes !== undefined && { sizeBytes: BigInt(sizeBytes) }),
    ...(sha256 !== undefined && { sha256 }),
    ...(url !== undefined && { metadata: JSON.stringify({ url }) }),
    ...(content !== undefined && { contentBase64: Buffer.from(content).toString("base64") }),
  };
  return { payload: { case: "artifactCreated", value } };
}

function textDelta(content: string, turn: number, logprobs?: readonly ModelLogprob[]): ResultInit {
  const chunk = { role: "assistant", content, msgSequence: turn };
  const value = { chunk: logprobs === undefined ? chunk : { ...chunk, logprobs: [...logprobs] } };
  return { payload: { case: "messageDelta", value } };
}

function endOfSpan(outcome: Response | NoResponse | undefined, usage: UsageTotals): Parameters<ChatSpan["end"]>[0] {
  if (outcome === undefined) {
    return { failureCode: "left", usage };
  }
  if ("why" in outcome) {
    const { why } = outcome;
    return { failureCode: why === "aborted" ? "cancelled" : "budget" in why ? "budget_exceeded" : why.code, usage };
  }
  return { finishReason: outcome.finishReason, usage, output: () => printResponse(outcome) };
}
