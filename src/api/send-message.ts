// SendMessage: checks the run that a message starts. The run is durable before the sender gets its answer.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema, type Callback, CallbackSchema, Session_State } from "#gen/runnel/v1/session_pb.js";
import {
  type SendMessageRequest,
  SendMessageRequestSchema,
  type SendMessageResponse,
  SendMessageResponseSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { assertBudgetKnown, runBudgetOf, runBudgetOfService } from "../agent/budget/budget.ts";
import { type StartRequest, startAlone, startRun } from "../engine/runs/start.ts";
import { callbackUrlOf } from "../engine/sessions/callback.ts";
import { findClientRun, isActive } from "../engine/storage/run.ts";
import { findSession, lockSession, type SessionRow } from "../engine/storage/session.ts";
import { Fault } from "../platform/base/fault.ts";
import type { Transaction } from "../platform/database/database.ts";
import type { ServiceDeps } from "./deps.ts";
import { answerOnce } from "./idempotency.ts";

/**
 * Sends a message to a session of the client and starts its run. Without a request id the fast path takes two statements.
 * @throws Fault SESSION_NOT_FOUND, SESSION_ENDED, INVALID_ARGUMENT, and those of `startRun` and `answerOnce`.
 */
export async function sendMessage(
  deps: ServiceDeps,
  client: string,
  request: SendMessageRequest,
  traceParent: string | undefined,
): Promise<SendMessageResponse> {
  const call = {
    client,
    request,
    requestId: request.requestId,
    requestSchema: SendMessageRequestSchema,
    responseSchema: SendMessageResponseSchema,
  };
  const name = { client, name: request.sessionId };
  const turnOf = (session: SessionRow | undefined) => nextTurn(deps, client, { session, request, traceParent });
  // The fast path for most messages: two statements. Without a run id the slow path, `startRun`, finds out why.
  if (request.requestId === "" && !deps.config.sessionsSingleMessage) {
    const turn = turnOf(await findSession(deps.db, name));
    const runId = await startAlone(deps, turn.start);
    if (runId !== undefined) {
      return turn.answer(runId);
    }
  }
  return await startRun(deps, (trx, start) =>
    answerOnce(trx, call, async () => {
      const session = await lockSession(trx, name);
      if (deps.config.sessionsSingleMessage) {
        await assertFirstMessage(trx, requireFound(session));
      }
      const turn = turnOf(session);
      return turn.answer(await start(turn.start));
    }),
  );
}

interface Turn {
  readonly start: StartRequest;
  readonly answer: (runId: string) => SendMessageResponse;
}

/** Checks a message and returns the run that it starts in its session. */
function nextTurn(
  deps: ServiceDeps,
  client: string,
  asked: { session: SessionRow | undefined; request: SendMessageRequest; traceParent: string | undefined },
): Turn {
  const session = requireFound(asked.session);
  const callback = session.callback === null ? undefined : fromBinary(CallbackSchema, session.callback);
  const problems: string[] = [];
  const toolsRegistered = checkAgent(deps, session, { callback, tell: (problem) => problems.push(problem) });
  const input = toBinary(MessageSchema, userMessage(asked.request.message));
  const { id, name: sessionId } = session;
  const callbackUrl = callbackUrlOf(callback, deps.config.callbackBaseUrl);
  return {
    start: { client, session: id, driver: "llm-loop", input, traceParent: asked.traceParent, callbackUrl },
    answer: (runId) => {
      if (problems.length > 0) {
        deps.events.toolsMended({ client, session: sessionId, problems: problems.slice(0, problemsLoggedMax) });
      }
      return create(SendMessageResponseSchema, { sessionId, status: Session_State.RUNNING, toolsRegistered, runId });
    },
  };
}

/** The maximum number of tool problems logged for one message: the input of a client must not flood the log. */
const problemsLoggedMax = 10;

function userMessage(text: string): Message {
  return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
}

/**
 * Checks what the document checks when a message is sent, in its order and with its wording. Returns the names of the tools.
 */
function checkAgent(
  deps: ServiceDeps,
  session: SessionRow,
  { callback, tell }: { readonly callback: Callback | undefined; readonly tell: (problem: string) => void },
): string[] {
  const agent = fromBinary(AgentSchema, session.agent);
  const model = deps.models.resolve(agent.model || deps.models.defaultModel);
  assertBudgetKnown(model, runBudgetOf(agent, runBudgetOfService(deps.config)), deps.dayBudget.max);
  const { temperature } = agent;
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 2)) {
    const message = `failed to create client: temperature must be between 0 and 2, got ${temperature.toFixed(6)}`;
    throw new Fault("INVALID_ARGUMENT", message, {
      violations: [{ field: "agent.temperature", description: "must be between 0 and 2" }],
    });
  }
  const { client, name } = session;
  const tools = deps.selectTools(agent.tools, { client, name, callback }, tell);
  return tools.map((tool) => tool.name);
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
