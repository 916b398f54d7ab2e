// The agent loop: asks the model, runs the tools it calls, and repeats until the model answers with text only, or calls a function
// that the caller runs. The checkpoint and the transcript hold the run's state, so any replica can continue after any failure.
//
//   model ──text only──→ completed
//     ↑ └──tool calls──→ tools ──functions too──→ completed, with the calls of functions pending
//     └───────results──────┘ ↑
//                            └── parked, while calls wait for a person

import { create } from "@bufbuild/protobuf";
import { type Message, TokenLogprobSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { FindMemory } from "../../engine/memory/owner.ts";
import type {
  CompletedEnd,
  Driver,
  DriverEnd,
  DriverStep,
  FailedEnd,
  OpenToolCall,
  ParkedEnd,
  RunContext,
} from "../../engine/runs/driver.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { assertBudgetKnown, runBudgetOf } from "../budget/budget.ts";
import type { Amount, DayBudget } from "../budget/day-budget.ts";
import { addUsage, usageMessage } from "../budget/usage.ts";
import { contextTokensOf } from "../models/catalogue.ts";
import type { Model, ModelRequest, ModelSettings, ResponseFormat } from "../models/model.ts";
import { failed, parkOrFail, stopped, withheld } from "../response/failure.ts";
import { type Response, respond } from "../response/respond.ts";
import { responseFormatOf } from "../response/response-format.ts";
import { laterSettings, settingsOf } from "../response/settings.ts";
import type { McpTools } from "../tools/mcp/run-servers.ts";
import type { CallerTool } from "../tools/select-tools.ts";
import type { Tool, ToolProgress } from "../tools/tool.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { approvalsToUse, askedCalls, askedResults, askForCalls, isUndecided, parkForCalls } from "./approvals.ts";
import { callsPerTurnMax, changesOf, commitOutcomes, startedResults, type TurnOutcomes } from "./calls.ts";
import {
  isOfOpenChild,
  parkForChildRuns,
  type ResolveSubagent,
  type Starting,
  startChildRuns,
  usageOfChildren,
  withChildOutcomes,
} from "./child-runs.ts";
import { type Compacting, compact } from "./compaction.ts";
import type { AwaitDecision, FormsOptions } from "./forms.ts";
import { checkHandoffs, findHandoff, type Handoff, progressAfterHandoff } from "./handoff.ts";
import { assistantMessage, toolMessage } from "./history.ts";
import { countInvalid, invalidCallsCode, whyEnough } from "./invalid-calls.ts";
import { requestOf } from "./model-request.ts";
import { checkpointOf, nothingGranted, type PendingCall, type Progress, readProgress } from "./progress.ts";
import { countCalls, type Repetitions } from "./repetition.ts";
import { openSkills } from "./skills.ts";
import { runToolBatch } from "./tool-batch.ts";
import { fitMessages } from "./window.ts";

/** What the agent loop needs. */
export interface LlmLoopOptions {
  readonly resolveModel: (name: string) => Model;
  readonly resolveSubagent: ResolveSubagent;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  readonly events: Events;
  readonly dayBudget: DayBudget;
  /** Waits for the forms of servers. Unset for a replay, which asks no person. */
  readonly awaitDecision?: AwaitDecision;
  readonly defaults: {
    readonly model: string;
    readonly maxTurns: number;
    readonly maxTokens: number;
    /** How many of a session's earlier messages a model gets. */
    readonly historyMessages: number;
    /** The budget of every run; 0 means no limit. */
    readonly runBudget: Amount;
  };
}

/** Returns the driver that runs the agent loop. */
export function createLlmLoop(options: LlmLoopOptions): Driver {
  return { name: "llm-loop", recovery: "resume", run: (context) => run(context, options) };
}

/** Values that stay the same over the turns of a run, and the transcript that grows with them. */
interface Loop
  extends Pick<LlmLoopOptions, "clock" | "events" | "dayBudget" | "toolbox" | "resolveSubagent" | "awaitDecision">,
    Omit<Compacting, "events"> {
  readonly model: Model;
  readonly tools: readonly Tool[];
  /** The tools that the caller runs. */
  readonly functions: readonly CallerTool[];
  readonly responseFormat: ResponseFormat | undefined;
  readonly settings: ModelSettings;
  readonly maxTurns: number;
}

/** The next step of the loop. */
interface Next {
  readonly progress: Progress;
  readonly calls: readonly OpenToolCall[];
}

async function* run(context: RunContext, options: LlmLoopOptions): AsyncGenerator<DriverStep, DriverEnd> {
  for (let current = context; ; ) {
    const end = yield* runAgent(current, options);
    if (end.kind !== "handed-over") {
      return end;
    }
    const { kind: _, ...changed } = end;
    current = { ...context, ...changed, openToolCalls: [] };
  }
}

/** Another agent goes on, from a checkpoint. */
interface HandedOver extends Pick<RunContext, "agent" | "transcript" | "compacted" | "checkpoint"> {
  readonly kind: "handed-over";
}

async function* runAgent(
  given: RunContext,
  options: LlmLoopOptions,
): AsyncGenerator<DriverStep, DriverEnd | HandedOver> {
  const kept = readProgress(given);
  const skilled = await openSkills(given, kept.skills, options.toolbox.skillsDirectory);
  if ("kind" in skilled) {
    return { ...skilled, usage: usageMessage(kept.usage) };
  }
  const { context, skills } = skilled;
  const begun = { ...kept, ...(skills && { skills }) };
  const prepared = prepare(context, options);
  if ("kind" in prepared) {
    return prepared;
  }
  const opened = await openServers(prepared, begun);
  if (opened !== undefined && "kind" in opened) {
    return opened;
  }
  await using servers = opened;
  const loop = servers === undefined ? prepared : { ...prepared, tools: [...prepared.tools, ...servers.tools] };
  let next: Next = {
    progress: servers === undefined ? begun : { ...begun, mcp: servers.kept },
    calls: context.openToolCalls,
  };
  if ((servers !== undefined && begun.mcp === undefined) || skilled.results.length > 0) {
    yield { kind: "commit", results: skilled.results, effects: { checkpoint: checkpointOf(next.progress) } };
  }
  for (let resumed = true; ; resumed = false) {
    const news = servers?.news.splice(0) ?? [];
    if (news.length > 0) {
      yield { kind: "commit", results: news, effects: {} };
    }
    if (next.progress.phase === "model") {
      if (next.progress.pending.length > 0) {
        return endWithPending(loop, next.progress);
      }
      const turn = yield* takeTurn(loop, next.progress);
      if ("kind" in turn) {
        return turn;
      }
      next = turn;
      resumed = false;
      if (next.progress.phase === "model") {
        continue;
      }
    }
    const progress = yield* takeCalls(loop, next, resumed);
    if (progress !== undefined && "kind" in progress) {
      return progress;
    }
    if (progress === undefined) {
      return { ...stopped, usage: usageMessage(next.progress.usage) };
    }
    next = { progress, calls: [] };
  }
}

/** Resolves the model and the tools. Returns a failed end when one of them is not available. */
function prepare(context: RunContext, options: LlmLoopOptions): Loop | FailedEnd {
  const { resolveModel, resolveSubagent, toolbox, clock, events, dayBudget, awaitDecision, defaults } = options;
  const { agent, client, session } = context;
  const handing = { client, agent, resolve: resolveSubagent };
  try {
    const { tools, functions } = toolbox.select(agent.tools, { client, ...session });
    const model = resolveModel(agent.model || defaults.model);
    const runMax = runBudgetOf(agent, defaults.runBudget);
    assertBudgetKnown(model, runMax, dayBudget.max);
    const summaryModel = agent.compaction?.model ? resolveModel(agent.compaction.model) : model;
    assertBudgetKnown(summaryModel, runMax, dayBudget.max);
    const maxTokens = agent.maxTokens > 0 ? agent.maxTokens : defaults.maxTokens;
    return {
      context,
      clock,
      events,
      dayBudget,
      toolbox,
      resolveSubagent,
      ...(awaitDecision && { awaitDecision }),
      model,
      summaryModel,
      runMax,
      tokensMax: roomFor(model, maxTokens),
      messagesMax: defaults.historyMessages,
      tools: checkHandoffs(tools, handing),
      functions,
      responseFormat: responseFormatOf(agent),
      settings: settingsOf(agent),
      // Without a maximum from the session or the service a run has one turn, like the service of the Agent Runner document.
      maxTurns: firstPositive(agent.maxTurns, defaults.maxTurns) ?? 1,
      maxTokens,
      transcript: [...context.transcript],
      compacted: [...context.compacted],
    };
  } catch (error) {
    if (error instanceof Fault) {
      return failed(error.message);
    }
    throw error;
  }
}

function firstPositive(...counts: readonly number[]): number | undefined {
  return counts.find((count) => count > 0);
}

/** The tools of the agent's MCP servers. */
interface OpenedServers extends McpTools {
  /** What the log had no room for. */
  readonly news: ResultInit[];
}

/** Opens the MCP servers of the agent; undefined without any. Returns a failed end when one of them gives no tools. */
async function openServers(
  { context, toolbox, events, tools, functions }: Loop,
  { mcp: kept, usage }: Progress,
): Promise<OpenedServers | DriverEnd | undefined> {
  const servers = context.agent.tools?.mcp ?? [];
  if (servers.length === 0) {
    return undefined;
  }
  const { client, session, signal, tryAppend } = context;
  const problems: string[] = [];
  const news: ResultInit[] = [];
  try {
    const opened = await toolbox.mcp.open(servers, {
      openContext: async () => ({ ...(await context.openWorkspace()), sessionId: session.name, signal }),
      ...{ client, signal, kept },
      taken: [...tools, ...functions].map(({ name }) => name),
      tell: (problem) => problems.push(problem),
      changed: (value) => {
        const result: ResultInit = { payload: { case: "toolsChanged", value } };
        if (!tryAppend(result)) {
          news.push(result);
        }
      },
    });
    if (problems.length > 0 && kept === undefined) {
      events.toolsMended({ client, session: session.name, problems: problems.slice(0, problemsLoggedMax) });
    }
    return { ...opened, news };
  } catch (error) {
    if (signal.aborted) {
      return { ...stopped, usage: usageMessage(usage) };
    }
    if (error instanceof Fault) {
      return { ...failed(error.message), usage: usageMessage(usage) };
    }
    throw error;
  }
}

/** The lists of foreign servers must not flood the log. */
const problemsLoggedMax = 10;

/** Takes one response of the model. Returns the end of the run, or the calls to make; none when the model goes on by itself. */
async function* takeTurn(loop: Loop, progress: Progress): AsyncGenerator<DriverStep, Next | DriverEnd> {
  const { maxTurns } = loop;
  if (progress.turns >= maxTurns) {
    const end = failed(`agent reached maximum turn limit (${maxTurns})`);
    return { ...end, usage: usageMessage(progress.usage) };
  }
  const enough = whyEnough(progress.invalid, loop.tools);
  if (enough !== undefined) {
    return { ...failed(enough), code: invalidCallsCode, turns: progress.turns, usage: usageMessage(progress.usage) };
  }
  const compacted = yield* compact(loop, progress);
  return "kind" in compacted ? compacted : yield* askModel(loop, compacted);
}

/** Takes the response itself. */
async function* askModel(loop: Loop, progress: Progress): AsyncGenerator<DriverStep, Next | DriverEnd> {
  const { context, model, runMax, dayBudget } = loop;
  const turn = progress.turns + 1;
  const opening: ResultInit[] = progress.announced ? [] : [{ payload: { case: "turnStarted", value: { turn } } }];
  const request = modelRequest(loop, progress);
  const response = yield* respond({
    context,
    model,
    request,
    turn,
    opening,
    before: addUsage(progress.usage, progress.delegated),
    runMax,
    dayBudget,
  });
  const usage = addUsage(progress.usage, response.usage);
  if ("why" in response) {
    const reached = { ...progress, usage };
    return parkOrFail(response, {
      context: loop.context,
      events: loop.events,
      usage,
      checkpoint: () => checkpointOf({ ...reached, announced: true }),
      // Clients of the Agent Runner document recognise a failure of the very first request by this prefix.
      describe: (message) => (progress.turns === 0 ? `failed to send message: ${message}` : message),
    });
  }
  const spent = { ...progress, turns: turn, usage };
  const isCut = response.cutCalls.length > 0;
  const made = isCut ? response.cutCalls : response.toolCalls;
  const { calls = [], pending = [] } = Object.groupBy(made, ({ name }) =>
    isOfCaller(loop, name) ? "pending" : "calls",
  );
  if (response.finishReason === "paused" && made.length === 0) {
    return yield* pauseTurn(loop, response, spent);
  }
  if (calls.length === 0 || (isCut && progress.wasCut)) {
    return endOfTalk(response, { ...spent, pending: isCut ? [] : pending });
  }
  const reached: Progress = {
    ...spent,
    ...{ phase: "tools", isCut, wasCut: progress.wasCut || isCut },
    // The caller gets no call of a cut response: its arguments may be incomplete.
    pending: isCut ? [] : pending.map(plainCall),
  };
  const message = assistantMessage({ ...response, toolCalls: isCut ? calls : response.toolCalls });
  loop.transcript.push(message);
  const { interventions } = countCalls(progress.callCounts, calls);
  const toMake = askForCalls(calls, {
    agentTools: loop.context.agent.tools,
    tools: loop.tools,
    isIntervened: isCut || interventions.size > 0,
    clock: loop.clock,
  });
  const isIntervened = isCut || interventions.size > 0;
  const started = await startChildRuns(
    askedCalls(toMake),
    ({ approval }, position) => approval === undefined && !isIntervened && position < callsPerTurnMax,
    reached,
    startingOf(loop),
  );
  const begun: Progress = { ...reached, granted: started.granted };
  const results = [
    ...startedResults(completedMessage(message, response), calls),
    ...askedResults(toMake),
    ...started.results,
  ];
  yield {
    kind: "commit",
    results,
    effects: {
      ...{ transcript: [message], checkpoint: checkpointOf(begun), toolCalls: { turn, calls: toMake } },
      ...(started.children && { children: started.children }),
    },
  };
  failpoint("calls.committed");
  return { progress: begun, calls: started.calls };
}

function startingOf({ context, tools, runMax, resolveSubagent, clock }: Loop): Starting {
  const { client, agent, readTree } = context;
  return { client, agent, tools, resolve: resolveSubagent, readTree, runMax, nowMs: clock.nowMs() };
}

/** Keeps a response that goes on when its provider gets it back. */
async function* pauseTurn(loop: Loop, response: Response, spent: Progress): AsyncGenerator<DriverStep, Next> {
  const reached: Progress = { ...spent, phase: "model", announced: false };
  const message = assistantMessage(response);
  loop.transcript.push(message);
  const effects = { transcript: [message], checkpoint: checkpointOf(reached) };
  yield { kind: "commit", results: [completedMessage(message, response)], effects };
  return { progress: reached, calls: [] };
}

/** Whether the caller makes the calls of this tool: of its own functions and, where it asks for them, of tools that are unknown. */
function isOfCaller({ context, functions, tools }: Loop, name: string): boolean {
  const isUnknown = !tools.some((tool) => tool.name === name);
  return (
    functions.some((each) => each.name === name) || (isUnknown && context.agent.tools?.unknownCallsToCaller === true)
  );
}

/** Returns a call as a checkpoint stores it. */
function plainCall({ id, name, arguments: json }: ToolCall): PendingCall {
  return { id, name, arguments: json };
}

/**
 * Answers the calls of a turn. Returns the end that parks the run while calls wait for a person, and undefined when the run was
 * stopped meanwhile.
 */
async function* takeCalls(
  loop: Loop,
  next: Next,
  resumed: boolean,
): AsyncGenerator<DriverStep, Progress | ParkedEnd | FailedEnd | HandedOver | undefined> {
  const { tools, clock, context, events } = loop;
  let { progress } = next;
  let calls: readonly OpenToolCall[] = withChildOutcomes(next.calls);
  const turn = progress.turns;
  const made = calls.map(({ call }) => call);
  const { counts, interventions } = progress.isCut
    ? { counts: progress.callCounts, interventions: cutInterventions(loop, made) }
    : noticeRepetition(loop, progress, made);
  const invalid = progress.isCut ? progress.invalid : countInvalid(progress.invalid, calls, tools);
  const { agent, client, session, signal, span, isHeld } = context;
  const isHandedOn = (): boolean => ["handed-on", "lost"].includes(context.stopReason() ?? "");
  const opened = await context.openWorkspace();
  const findMemory: FindMemory = (scope) => context.memoriesOf(agent)(scope);
  const work = { ...opened, sessionId: session.name, findMemory, signal, span, isHeld, isHandedOn };
  const usedApprovals = calls.some(isUndecided) ? [] : approvalsToUse(calls);
  if (usedApprovals.length > 0) {
    const isApproved = ({ approval }: OpenToolCall) => approval?.state === "approved";
    const started = await startChildRuns(calls, isApproved, progress, startingOf(loop));
    const { children, results } = started;
    progress = { ...progress, granted: started.granted };
    calls = started.calls;
    const begun = children && { children, checkpoint: checkpointOf(progress) };
    yield { kind: "commit", results, effects: { usedApprovals, ...begun } };
    failpoint("approval.used");
  }
  const report = (call: ToolCall, progress: ToolProgress): void => reportProgress(context, call, progress);
  const forms = formsOf(loop);
  const outcomes = yield* runToolBatch({
    turn,
    calls,
    resumed,
    tools,
    interventions,
    clock,
    work,
    events,
    report,
    forms,
  });
  if (outcomes !== undefined && calls.some(isUndecided)) {
    return parkForCalls(progress, calls, clock.nowMs());
  }
  if (outcomes !== undefined && calls.some(isOfOpenChild)) {
    return parkForChildRuns(progress, calls);
  }
  if (outcomes === undefined) {
    return undefined;
  }
  const changes = changesOf(calls, outcomes, tools);
  const delegated = addUsage(progress.delegated, usageOfChildren(calls));
  const answered = { ...progress, callCounts: counts, invalid, delegated, granted: nothingGranted };
  const handoff = findHandoff(calls, outcomes, { client, agent, resolve: loop.resolveSubagent, tools });
  if (handoff !== undefined && "error" in handoff) {
    return { ...failed(handoff.error), usage: usageMessage(answered.usage) };
  }
  return yield* answerCalls(loop, answered, { outcomes, changes }, handoff);
}

/** Returns what forms need; undefined when no server of the agent may ask for them. */
function formsOf({ context, clock, awaitDecision }: Loop): FormsOptions | undefined {
  const { client, runId, agent } = context;
  const mayAsk = agent.tools?.mcp.some(({ forms }) => forms) === true;
  return mayAsk && awaitDecision !== undefined
    ? { client, runId, agentTools: agent.tools, clock, awaitDecision }
    : undefined;
}

/** Adds how far a call has got to the log, where there is room: nothing depends on it. */
function reportProgress(
  { tryAppend }: RunContext,
  { id: toolCallId, name: toolName }: ToolCall,
  { progress, total, message }: ToolProgress,
): void {
  const value = { toolCallId, toolName, progress, message, ...(total !== undefined && { total }) };
  tryAppend({ payload: { case: "toolCallProgress", value } });
}

/** Returns the error for each call of a response that its token limit has cut. */
function cutInterventions({ maxTokens }: Loop, calls: readonly ToolCall[]): ReadonlyMap<number, string> {
  const why = `not run: the response reached its limit of ${maxTokens} tokens before this call was complete; make the call again, with less`;
  return new Map(calls.map((_, position) => [position, why]));
}

function noticeRepetition({ context, events }: Loop, progress: Progress, made: readonly ToolCall[]): Repetitions {
  const repetitions = countCalls(progress.callCounts, made);
  for (const position of repetitions.interventions.keys()) {
    events.loopDetected({ runId: context.runId, tool: made[position]?.name ?? "" });
  }
  return repetitions;
}

async function* answerCalls(
  loop: Loop,
  progress: Progress,
  { outcomes, changes }: TurnOutcomes,
  handoff: Handoff | undefined,
): AsyncGenerator<DriverStep, Progress | HandedOver> {
  const answered: Progress = { ...progress, phase: "model", announced: false };
  const reached = handoff === undefined ? answered : progressAfterHandoff(answered);
  const messages = outcomes.map(toolMessage);
  loop.transcript.push(...messages);
  const checkpoint = checkpointOf(reached);
  const results = [...changes, ...(handoff === undefined ? [] : [handoff.result])];
  const effects = { transcript: messages, checkpoint, handoff: handoff?.effect };
  yield commitOutcomes(progress.turns, { outcomes, changes: results }, effects);
  failpoint("answers.committed");
  if (handoff === undefined) {
    return reached;
  }
  const { transcript, compacted } = loop;
  return { kind: "handed-over", agent: handoff.agent, transcript, compacted, checkpoint };
}

/** The share of the context for a request. Token estimates can be off by a quarter, and providers refuse a longer request. */
const contextShare = 0.75;
/** The most of the context that is kept for the answer: some callers allow more than any answer has. */
const answerShare = 0.25;

function modelRequest(loop: Loop, { turns }: Progress): ModelRequest {
  const { context, model, transcript, maxTokens, responseFormat, tokensMax } = loop;
  const request = requestOf(context.agent, {
    ...{ model, transcript, maxTokens, responseFormat },
    tools: [...loop.tools, ...loop.functions],
    settings: turns === 0 ? loop.settings : laterSettings(loop.settings),
  });
  return { ...request, messages: fitMessages(request.messages, tokensMax) };
}

/** Returns how many tokens of messages a request may have. */
function roomFor(model: Model, maxTokens: number): number {
  const contextTokens = contextTokensOf(model);
  return contextTokens * contextShare - Math.min(maxTokens, contextTokens * answerShare);
}

function endOfTalk(response: Response, progress: Progress): DriverEnd {
  const usage = usageMessage(progress.usage);
  if (response.finishReason === "content-filter") {
    return { ...withheld(response.detail), turns: progress.turns, usage };
  }
  const message = assistantMessage(response);
  return {
    kind: "completed",
    finishReason: progress.pending.length > 0 ? "tool-calls" : response.finishReason,
    stopSequence: response.stopSequence,
    message,
    turns: progress.turns,
    usage,
    pendingToolCalls: progress.pending,
    results: [completedMessage(message, response)],
    transcript: [message],
  };
}

/** Ends a run whose own calls have their results: the caller makes the other calls of that response. */
function endWithPending({ transcript }: Loop, { turns, usage, pending }: Progress): CompletedEnd {
  return {
    kind: "completed",
    finishReason: "tool-calls",
    message: transcript.findLast(({ role }) => role === "assistant"),
    turns,
    usage: usageMessage(usage),
    pendingToolCalls: pending,
  };
}

/** Only the log has the log probabilities: no model reads them, and every run of the session reads its transcript. */
function completedMessage(message: Message, { usage, logprobs }: Response) {
  const whole = { ...message, logprobs: logprobs.map((each) => create(TokenLogprobSchema, each)) };
  return { usage: usageMessage(usage), payload: { case: "messageCompleted", value: { message: whole } } } as const;
}
