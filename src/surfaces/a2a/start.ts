// Starts the run of a message. What the client sent as the context lies with the run, so every replica can answer for the task.

import type { Message } from "#gen/lf/a2a/v1/a2a_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { newUuid } from "../../platform/base/ids.ts";
import { findAgents, type NamedAgent } from "../in-process/agents.ts";
import { sendFirst } from "../in-process/first-message.ts";
import { branchIdOf } from "../in-process/named-session.ts";
import { isReason } from "../rest/failure.ts";
import type { A2aCall } from "./call.ts";
import { A2aError, InvalidField } from "./errors.ts";
import { inputOf, requireText } from "./message.ts";

const sessions = SessionService.method;

/** What lies with a run. */
export interface TaskNote {
  readonly context_id: string;
  readonly message_id: string;
}

/** Returns the caller's agents: that of a tenant, or all. Throws InvalidField for a tenant that is no agent. */
export async function agentsOf({ calls, server }: A2aCall, tenant: string): Promise<readonly NamedAgent[]> {
  const agents = await findAgents(calls, server.agents);
  const found = tenant === "" ? agents : agents.filter(({ name }) => name === tenant);
  if (tenant !== "" && found.length === 0) {
    throw new InvalidField("tenant", `there is no agent ${JSON.stringify(tenant)}: the extended agent card lists all`);
  }
  return found;
}

/** Starts the run of a message, as the next one of its context. Returns its id. */
export async function startTask(call: A2aCall, tenant: string, message: Message): Promise<string> {
  const [agent] = await agentsOf(call, tenant);
  if (agent === undefined) {
    throw new A2aError("UNSUPPORTED_OPERATION", "the service has no agent: configure a preset or a binding");
  }
  return await (agent.offered === undefined
    ? startInSession(call, agent, message, tenant !== "")
    : startOffered(call, agent.offered, message));
}

/** Returns the session of a context. */
export function sessionOf(contextId: string): string {
  return branchIdOf(contextId);
}

async function startInSession(call: A2aCall, agent: NamedAgent, message: Message, isNamed: boolean): Promise<string> {
  const { calls, idempotencyKey: requestId } = call;
  const contextId = message.contextId || (await beginContext(call, agent));
  const sessionId = sessionOf(contextId);
  if (message.contextId !== "") {
    await openContext(call, sessionId, agent, isNamed);
  }
  const request = { sessionId, messages: [inputOf(message)], annotations: annotate(contextId, message), requestId };
  const send = () => calls.call(sessions.sendMessage, { ...request, queueIfBusy: true });
  // A context that the client names, or finds again by its key, may have the message of another call by now.
  const isNew = message.contextId === "" && requestId === "";
  const { runId } = await (isNew ? sendFirst(calls, sessionId, send) : send());
  return runId;
}

/** Returns a new context; for a repetition with the same key the one of the first attempt. */
async function beginContext({ calls, idempotencyKey, server }: A2aCall, { name }: NamedAgent): Promise<string> {
  const id = idempotencyKey === "" ? { sessionId: newUuid(server.clock.nowMs()) } : { requestId: idempotencyKey };
  return (await calls.call(sessions.createSession, { ...id, preset: name })).sessionId;
}

async function openContext(call: A2aCall, sessionId: string, { name }: NamedAgent, isNamed: boolean): Promise<void> {
  try {
    await call.calls.call(sessions.createSession, { sessionId, preset: name });
  } catch (error) {
    if (!isReason(error, "SESSION_EXISTS")) {
      throw error;
    }
    await assertAgent(call, sessionId, isNamed ? name : undefined);
  }
}

/** A session of another agent would answer as that agent. */
async function assertAgent({ calls }: A2aCall, sessionId: string, wanted: string | undefined): Promise<void> {
  const { session } = await calls.call(sessions.getSession, { sessionId });
  if (wanted !== undefined && session?.name !== wanted) {
    throw new InvalidField(
      "message.contextId",
      `is a conversation with ${session?.name}: leave it out to begin another`,
    );
  }
}

async function startOffered(
  { calls, server }: A2aCall,
  { source, agent }: NonNullable<NamedAgent["offered"]>,
  message: Message,
): Promise<string> {
  const nowMs = server.clock.nowMs();
  const conversationId = message.contextId || newUuid(nowMs);
  const annotations = annotate(conversationId, message);
  return await source.start((method, request) => calls.call(method, request), agent, {
    id: newUuid(nowMs),
    source: "a2a",
    senderId: message.messageId,
    text: requireText(message),
    conversationId,
    annotations,
  });
}

function annotate(contextId: string, { messageId }: Message): string {
  const note: TaskNote = { context_id: contextId, message_id: messageId };
  return JSON.stringify({ a2a: note });
}
