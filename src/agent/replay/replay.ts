// Replays a recording through the agent loop of this version: the model and the tools answer as they did, and every entry that
// the loop writes is compared with the recorded one, byte by byte.

import type { ArtifactCreated, ToolCallCompleted, ToolCallStarted } from "#gen/runnel/v1/result_pb.js";
import { encodeResult, type ResultInit } from "../../engine/log/result.ts";
import type { DriverEnd, RunContext } from "../../engine/runs/driver.ts";
import { completedResult } from "../../engine/runs/terminal.ts";
import { systemClock } from "../../platform/base/clock.ts";
import type { MediaKind } from "../../platform/base/media-type.ts";
import { maxTokensDefault } from "../../platform/config/keys/models.ts";
import type { Db } from "../../platform/database/database.ts";
import { createEvents } from "../../platform/telemetry/events.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { noTraces } from "../../platform/telemetry/traces.ts";
import { DayBudget } from "../budget/day-budget.ts";
import { createLlmLoop } from "../loop/llm-loop.ts";
import type { Model, ModelPart } from "../models/model.ts";
import { providerOf } from "../models/route.ts";
import { contentJsonOf, contentOf } from "../response/respond.ts";
import type { Tool } from "../tools/tool.ts";
import { entriesThatCount, type RecordedEntry, type Recording } from "./recording.ts";

/** A place where the replay differs. An entry is undefined where one of the two logs has none. */
export interface Difference {
  readonly sequence: number;
  readonly recorded: ResultInit["payload"];
  readonly replayed: ResultInit["payload"];
}

/** The outcome of a replay. */
export interface Replay {
  /** The number of entries that were compared. */
  readonly compared: number;
  readonly differences: readonly Difference[];
  /** True when the run did not complete: its end came from outside and is not replayed. */
  readonly isCut: boolean;
}

/** Replays a recording. */
export async function replay(recording: Recording): Promise<Replay> {
  const entries = entriesThatCount(recording);
  const last = entries.at(-1);
  const isCut = last?.result.payload.case !== "runCompleted";
  const expected = isCut ? entries.slice(0, -1) : entries;
  const results: ResultInit[] = [];
  for await (const result of run(recording, entries)) {
    results.push(result);
    if (results.length >= expected.length) {
      break;
    }
  }
  const differences = expected.flatMap((entry, index) => compare(entry, results[index], recording.runId));
  return { compared: expected.length, differences, isCut };
}

/** Estimates of usage are not compared: they count the definitions of tools, which a recording does not have. */
function compare({ result, bytes }: RecordedEntry, answer: ResultInit | undefined, runId: string): Difference[] {
  const replayed = answer && result.usage?.estimated ? { ...answer, usage: result.usage } : answer;
  const { createTime } = result;
  const sequence = Number(result.sequence);
  const timeMs = Number(createTime?.seconds ?? 0n) * 1_000 + Math.round((createTime?.nanos ?? 0) / 1e6);
  const isSame =
    replayed !== undefined && Buffer.compare(encodeResult(replayed, { runId, sequence, timeMs }).bytes, bytes) === 0;
  return isSame ? [] : [{ sequence, recorded: result.payload, replayed: replayed?.payload }];
}

/** Yields what the loop writes. */
async function* run(recording: Recording, entries: readonly RecordedEntry[]): AsyncGenerator<ResultInit> {
  const clock = systemClock;
  const events = createEvents(createLogger("silent"));
  const none = { tokens: 0, costMicroUsd: 0 };
  const loop = createLlmLoop({
    resolveModel: (name) => recordedModel(name, entries),
    resolveSubagent: unused(),
    toolbox: {
      select: () => ({ tools: recordedTools(entries), functions: functionsOf(recording) }),
      // The recorded agent has no servers: its tools are those of the recording.
      mcp: unused(),
      commands: unused(),
      bash: "",
      skillsDirectory: "",
    },
    clock,
    events,
    // Without a budget nothing is stored.
    dayBudget: new DayBudget({ db: unused<Db>(), clock, events, max: none }),
    defaults: {
      model: recording.agent.model,
      maxTurns: Number.MAX_SAFE_INTEGER,
      maxTokens: maxTokensDefault,
      historyMessages: Number.MAX_SAFE_INTEGER,
      runBudget: none,
    },
  });
  const steps = loop.run(contextOf(recording));
  for (;;) {
    const step = await steps.next();
    if (step.done === true) {
      yield* endOf(step.value, entries);
      return;
    }
    yield* step.value.kind === "append" ? [step.value.result] : step.value.kind === "commit" ? step.value.results : [];
  }
}

function contextOf({ runId, agent, messages }: Recording): RunContext {
  const [input] = messages.slice(-1);
  if (input === undefined) {
    throw new Error("a run has an input");
  }
  const unusedWorkspace = async () => ({ workDir: "", hiddenPaths: [] }) as never;
  return {
    runId,
    client: "",
    agent: { ...agent, tools: undefined, compaction: undefined },
    session: { name: "", callback: undefined },
    openWorkspace: unusedWorkspace,
    readTree: unused(),
    memoriesOf: unused(),
    input,
    transcript: messages,
    compacted: [],
    checkpoint: undefined,
    openToolCalls: [],
    signal: new AbortController().signal,
    tryAppend: () => false,
    stopReason: () => undefined,
    isHeld: () => true,
    span: noTraces.startRun({
      runId,
      epoch: 1,
      sessionId: "",
      client: "",
      agentName: "",
      model: "",
      traceParent: undefined,
    }),
  };
}

/** Returns a model that gives the recorded responses, one for each turn. */
function recordedModel(name: string, entries: readonly RecordedEntry[]): Model {
  const turns = turnsOf(entries);
  let next = 0;
  return {
    ...providerOf(name),
    stream: async function* () {
      yield* partsOf(turns[next++] ?? [], entries);
    },
  };
}

function turnsOf(entries: readonly RecordedEntry[]): RecordedEntry[][] {
  const turns: RecordedEntry[][] = [];
  for (const entry of entries) {
    if (entry.result.payload.case === "turnStarted") {
      turns.push([]);
    }
    turns.at(-1)?.push(entry);
  }
  return turns;
}

function* partsOf(turn: readonly RecordedEntry[], entries: readonly RecordedEntry[]): Generator<ModelPart> {
  let started: ToolCallStarted | undefined;
  for (const { result } of turn) {
    const { payload, usage } = result;
    if (payload.case === "toolCallStarted" && payload.value.runByProvider) {
      started = payload.value;
    } else if (payload.case === "toolCallCompleted" && payload.value.runByProvider && started !== undefined) {
      yield providerCallOf(started, payload.value);
    } else if (payload.case === "reasoningDelta") {
      yield { type: "reasoning", text: payload.value.content };
    } else if (payload.case === "artifactCreated") {
      yield artifactOf(payload.value);
    } else if (payload.case === "messageDelta") {
      const { content = "", logprobs = [] } = payload.value.chunk ?? {};
      yield { type: "text", text: content, logprobs: logprobs.length === 0 ? undefined : logprobs };
    } else if (payload.case === "messageCompleted") {
      const { toolCalls = [], providerSpecificFields: state, citations = [] } = payload.value.message ?? {};
      for (const { id, name, arguments: argumentsJson } of toolCalls) {
        yield { type: "tool-call", call: { id, name, argumentsJson } };
      }
      const count = (value: bigint | undefined) => (value === undefined ? undefined : Number(value));
      yield {
        type: "finish",
        reason: toolCalls.length > 0 ? "tool-calls" : isLast(turn, entries) ? reasonOf(entries) : "paused",
        citations: citations.map(({ url, title, text, start, end }) => ({ url, title, text, start, end })),
        usage:
          usage === undefined || usage.estimated
            ? undefined
            : {
                promptTokens: count(usage.promptTokens),
                completionTokens: count(usage.completionTokens),
                totalTokens: count(usage.totalTokens),
                cachedTokens: count(usage.cachedTokens),
                reasoningTokens: count(usage.reasoningTokens),
              },
        state,
      };
    }
  }
}

/** The log has the call of a provider's tool and its result one after the other. */
function providerCallOf(
  { toolCallId: id, toolName: name, parameters }: ToolCallStarted,
  ended: ToolCallCompleted,
): ModelPart {
  const outcome =
    ended.error === undefined ? { json: contentJsonOf(ended.result ?? contentOf("null")) } : { error: ended.error };
  return { type: "provider-call", call: { id, name, argumentsJson: parameters }, outcome };
}

function artifactOf(created: ArtifactCreated): ModelPart {
  const {
    artifactType,
    artifactId: id = "",
    mimeType: mediaType,
    sizeBytes,
    sha256,
    metadata,
    contentBase64,
  } = created;
  return {
    ...{ type: "artifact", id, kind: artifactType as MediaKind, mediaType, sha256 },
    sizeBytes: sizeBytes === undefined ? undefined : Number(sizeBytes),
    content: contentBase64 === undefined ? undefined : Buffer.from(contentBase64, "base64"),
    url: metadata === undefined ? undefined : JSON.parse(metadata).url,
  };
}

/** Only a response that its provider paused has another turn after it without a call. */
function isLast(turn: readonly RecordedEntry[], entries: readonly RecordedEntry[]): boolean {
  const [first] = turn;
  return !entries.some(
    ({ result }) => result.payload.case === "turnStarted" && result.sequence > (first?.result.sequence ?? 0n),
  );
}

function reasonOf(entries: readonly RecordedEntry[]): "stop" | "length" | "other" {
  const end = entries.at(-1)?.result.payload;
  const reason = end?.case === "runCompleted" ? end.value.finishReason : "stop";
  return reason === "stop" || reason === "length" ? reason : "other";
}

/** Returns tools that give the recorded outcomes. */
function recordedTools(entries: readonly RecordedEntry[]): Tool[] {
  const outcomes = new Map<string, ToolCallCompleted>();
  for (const { result } of entries) {
    if (result.payload.case === "toolCallCompleted") {
      outcomes.set(result.payload.value.toolCallId, result.payload.value);
    }
  }
  const names = new Set([...outcomes.values()].map(({ toolName }) => toolName));
  return [...names].map((name) => ({
    name,
    description: "",
    parameters: {},
    afterCrash: "again",
    run: async (_, { call }) => outcomeOf(outcomes.get(call?.id ?? "")),
  }));
}

function outcomeOf(outcome: ToolCallCompleted | undefined) {
  if (outcome?.error !== undefined) {
    return { error: outcome.error };
  }
  const { content }: { content: string } = JSON.parse(outcome?.result ?? '{"content":""}');
  return { content };
}

function functionsOf({ agent }: Recording) {
  return (agent.tools?.functions ?? []).map(({ name }) => ({ name, description: "", parameters: {} }));
}

/** Returns the results of the loop's end. The duration is the recorded one: it is of the clock, not of the loop. */
function endOf(end: DriverEnd, entries: readonly RecordedEntry[]): readonly ResultInit[] {
  if (end.kind !== "completed") {
    return [];
  }
  const recorded = entries.at(-1)?.result.payload;
  const durationMs = recorded?.case === "runCompleted" ? Number(recorded.value.durationMs) : 0;
  return [...(end.results ?? []), completedResult(end, end.turns, durationMs)];
}

/** A part that a replay never calls. */
function unused<T>(): T {
  return undefined as T;
}
