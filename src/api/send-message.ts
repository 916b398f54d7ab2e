// SendMessage: checks the run that messages start. The run is durable before the sender gets its answer.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Message, MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import { type Agent, AgentSchema, type Callback, CallbackSchema, Session_State } from "#gen/runnel/v1/session_pb.js";
import {
  type SendMessageRequest,
  type SendMessageResponse,
  SendMessageResponseSchema,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import { assertBudgetKnown, runBudgetOf, runBudgetOfService } from "../agent/budget/budget.ts";
import type { Model } from "../agent/models/model.ts";
import { providerOptionsOf } from "../agent/response/provider-options.ts";
import { providerToolsOf } from "../agent/response/provider-tools.ts";
import { responseFormatOf } from "../agent/response/response-format.ts";
import { assertSettings } from "../agent/response/settings.ts";
import { treeDepthMax } from "../engine/runs/children.ts";
import { type StartRequest, startAlone, startRun } from "../engine/runs/start.ts";
import { callbackUrlOf } from "../engine/sessions/callback.ts";
import { findClientRun } from "../engine/storage/client-run.ts";
import { isActive } from "../engine/storage/run.ts";
import { findSession, lockSession, type SessionRow } from "../engine/storage/session.ts";
import { readTranscript } from "../engine/storage/transcript.ts";
import { dayMs } from "../platform/base/clock.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import type { Transaction } from "../platform/database/database.ts";
import { inTransaction } from "../platform/database/in-transaction.ts";
import { replaceSettings } from "./agent-settings.ts";
import { readAnnotations } from "./annotations.ts";
import type { ServiceDeps } from "./deps.ts";
import { claimCall, keepAnswer, repeatable } from "./idempotency.ts";
import { beginsWithResult, checkMessages, openCallsOf, userMessage } from "./run-input.ts";
import { findRunner } from "./runners.ts";

/**
 * Sends messages to a session of the client and starts its run. One message without a request id takes two statements.
 * @throws Fault SESSION_NOT_FOUND, SESSION_ENDED, INVALID_ARGUMENT, and those of `startRun` and `claimCall`.
 */
export async function sendMessage(
  deps: ServiceDeps,
  client: string,
  request: SendMessageRequest,
  traceParent: string | undefined,
): Promise<SendMessageResponse> {
  const given = givenMessages(request);
  // Most messages take this way: two statements. Without a run id the transaction below finds out why.
  if (isPlain(request, given) && !deps.config.sessionsSingleMessage) {
    const session = requireFound(await findSession(deps.db, { client, name: request.sessionId }));
    const turn = nextTurn(deps, client, { session, request, messages: checkMessages(given, []), traceParent });
    const runId = await startAlone(deps, turn.start);
    if (runId !== undefined) {
      return turn.answer(runId);
    }
  }
  return await inTransaction(deps.db, (trx) => sendWithin(trx, deps, client, request, traceParent));
}

/**
 * Sends messages in a transaction of `inTransaction`, whose commit announces the run.
 * @throws Fault those of `sendMessage`.
 */
export async function sendWithin(
  trx: Transaction,
  deps: ServiceDeps,
  client: string,
  request: SendMessageRequest,
  traceParent: string | undefined,
): Promise<SendMessageResponse> {
  const call = repeatable(client, SessionService.method.sendMessage, request);
  const known = await claimCall(trx, call);
  if (known !== undefined) {
    return known;
  }
  const session = requireFound(await lockSession(trx, { client, name: request.sessionId }));
  assertLatest(session, request.afterRunId);
  if (deps.config.sessionsSingleMessage) {
    await assertFirstMessage(trx, session);
  }
  const given = givenMessages(request);
  const hasCalls = beginsWithResult(given) && !request.replaceHistory;
  const messages = checkMessages(given, hasCalls ? await readOpenCalls(trx, session) : []);
  const turn = nextTurn(deps, client, { session, request, messages, traceParent });
  return await keepAnswer(trx, call, turn.answer(await startRun(trx, deps, turn.start)));
}

function givenMessages({ message, messages }: SendMessageRequest): readonly Message[] {
  return message === "" ? messages : [userMessage(message)];
}

/** Whether a message needs nothing but its session. */
function isPlain({ requestId, afterRunId, replaceHistory }: SendMessageRequest, given: readonly Message[]): boolean {
  return requestId === "" && afterRunId === "" && !replaceHistory && given.length === 1 && !beginsWithResult(given);
}

/** Throws SESSION_MOVED when the session has another latest run; an empty id means any. */
function assertLatest({ name, latest_run_id: latest }: SessionRow, runId: string): void {
  if (runId !== "" && latest !== runId) {
    throw new Fault("SESSION_MOVED", `the latest run of session "${name}" is ${latest ?? "none"}, not ${runId}`);
  }
}

async function readOpenCalls(trx: Transaction, session: SessionRow): Promise<readonly ToolCall[]> {
  const { messages } = await readTranscript(trx, { session: session.id, newestMax: answersMax });
  return openCallsOf(messages.map(({ message }) => fromBinary(MessageSchema, message)));
}

/** More messages than a response with all its answers has. */
const answersMax = 300;

interface Turn {
  readonly start: StartRequest;
  readonly answer: (runId: string) => SendMessageResponse;
}

/** Checks messages and returns the run that they start in their session. */
function nextTurn(
  deps: ServiceDeps,
  client: string,
  asked: {
    session: SessionRow;
    request: SendMessageRequest;
    messages: readonly Message[];
    traceParent: string | undefined;
  },
): Turn {
  const { session, request, traceParent } = asked;
  const callback = session.callback === null ? undefined : fromBinary(CallbackSchema, session.callback);
  const problems: string[] = [];
  const omitted: string[] = [];
  const agent = replaceSettings(fromBinary(AgentSchema, session.agent), request.agent);
  const runner = findRunner(deps.runners, client, agent);
  const model = runner === undefined ? deps.models.resolve(agent.model || deps.models.defaultModel) : undefined;
  const toolsRegistered =
    model === undefined
      ? []
      : checkAgent(deps, agent, {
          ...{ model, session, callback },
          tell: (problem) => problems.push(problem),
          omit: (tool) => omitted.push(tool),
        });
  const { id, name: sessionId } = session;
  const messages = asked.messages.map((message) => toBinary(MessageSchema, message));
  return {
    start: {
      client,
      session: id,
      driver: runner?.driver ?? "llm-loop",
      input: messages.at(-1) ?? new Uint8Array(),
      inputBefore: messages.slice(0, -1),
      agent: request.agent && toBinary(AgentSchema, agent),
      model: runner?.name ?? (agent.model || deps.models.defaultModel),
      agentName: agent.name,
      annotations: readAnnotations(request.annotations),
      startMs: readStartTime(request, deps.clock.nowMs()),
      priority: request.priority,
      queueIfBusy: request.queueIfBusy && !deps.config.sessionsSingleMessage,
      replacesHistory: request.replaceHistory,
      traceParent,
      callbackUrl: callbackUrlOf(callback, deps.config.callbackBaseUrl),
    },
    answer: (runId) => {
      if (problems.length > 0) {
        deps.events.toolsMended({ client, session: sessionId, problems: problems.slice(0, problemsLoggedMax) });
      }
      if (model !== undefined && omitted.length > 0) {
        deps.events.toolsOmitted({ client, session: sessionId, provider: model.provider, tools: omitted });
      }
      return create(SendMessageResponseSchema, { sessionId, status: Session_State.RUNNING, toolsRegistered, runId });
    },
  };
}

/** The maximum number of tool problems logged for one message: the input of a client must not flood the log. */
const problemsLoggedMax = 10;

/** Returns when the run begins; undefined for at once. */
function readStartTime({ startTime }: SendMessageRequest, nowMs: number): number | undefined {
  const startMs = startTime === undefined ? nowMs : timestampMs(startTime);
  if (startMs > nowMs + startAheadMaxMs) {
    throw invalidField("start_time", "must be at most 30 days ahead");
  }
  return startMs > nowMs ? startMs : undefined;
}

const startAheadMaxMs = 30 * dayMs;

/**
 * Checks what the document checks when a message is sent, in its order and with its wording. Returns the names of the tools.
 */
function checkAgent(
  deps: ServiceDeps,
  agent: Agent,
  { model, session, callback, tell, omit, depth = 0 }: AgentContext,
): string[] {
  assertBudgetKnown(model, runBudgetOf(agent, runBudgetOfService(deps.config)), deps.dayBudget.max);
  if (agent.compaction?.model) {
    const writer = deps.models.resolve(agent.compaction.model);
    assertBudgetKnown(writer, runBudgetOf(agent, runBudgetOfService(deps.config)), deps.dayBudget.max);
  }
  const { temperature } = agent;
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    const message = `failed to create client: temperature must be between 0 and 2, got ${temperature.toFixed(6)}`;
    throw new Fault("INVALID_ARGUMENT", message, {
      violations: [{ field: "agent.temperature", description: "must be between 0 and 2" }],
    });
  }
  const { client, name } = session;
  responseFormatOf(agent);
  providerOptionsOf(agent);
  const { tools, functions } = deps.selectTools(agent.tools, { client, name, callback }, tell);
  const names = [...tools, ...functions].map((tool) => tool.name);
  checkSubagents(deps, agent, { session, callback, depth });
  const isOpen = (agent.tools?.mcp ?? []).length > 0;
  assertSettings(agent, model, { names, isOpen, providerTools: providerToolsOf(agent, model, omit) });
  return names;
}

interface AgentContext {
  readonly model: Model;
  readonly session: SessionRow;
  readonly callback: Callback | undefined;
  /** Takes a problem of the tools, which are used all the same. */
  readonly tell: (problem: string) => void;
  /** Takes the name of a tool that the model does without. */
  readonly omit: (tool: string) => void;
  /** The number of agents above it that call each other; unset means none. */
  readonly depth?: number;
}

/**
 * Checks the agents that an agent calls, and those that these call, as far as a tree of runs reaches. Those that a preset calls are
 * checked when they are called: presets may call each other in circles.
 */
function checkSubagents(
  deps: ServiceDeps,
  agent: Agent,
  { depth = 0, ...of }: Pick<AgentContext, "session" | "callback" | "depth">,
): void {
  if (depth === 0 && countSubagents(agent) > subagentsMax) {
    throw invalidField(
      "agent.tools.agents",
      `at most ${subagentsMax} agents, with those that they call: name others as presets`,
    );
  }
  for (const subagent of depth < treeDepthMax ? (agent.tools?.agents ?? []) : []) {
    const found = deps.resolveSubagent(subagent, { client: of.session.client, agent });
    if (found.agent.runner === "") {
      const model = deps.models.resolve(found.model);
      const child = { ...found.agent, model: found.model };
      checkAgent(deps, child, {
        ...of,
        model,
        tell: () => {},
        omit: () => {},
        depth: subagent.preset === "" ? depth + 1 : treeDepthMax,
      });
    }
  }
}

/** More than a team has, and few enough to check with each message. */
const subagentsMax = 256;

function countSubagents({ tools }: Agent): number {
  const agents = tools?.agents ?? [];
  return agents.reduce((count, { agent }) => count + (agent === undefined ? 0 : countSubagents(agent)), agents.length);
}

async function assertFirstMessage(trx: Transaction, session: SessionRow): Promise<void> {
  const { latest_run_id: id, client, name } = session;
  const run = id === null ? undefined : await findClientRun(trx, { client, id });
  if (run !== undefined && !isActive(run.status)) {
    throw new Fault("SESSION_ENDED", `session "${name}" cannot be started (status: ${run.status})`);
  }
}

/** Returns the session. Throws SESSION_NOT_FOUND when it is undefined. */
export function requireFound<T>(session: T | undefined): T {
  if (session === undefined) {
    throw new Fault("SESSION_NOT_FOUND", "session not found");
  }
  return session;
}
