// Starts a run for an event: one event, one binding, one run. Everything that can be decided before is decided before the
// transaction. All writes are in the caller's transaction. So a run exists with its grant, its context and its place in the
// conversation, or not at all.

import { create, toBinary } from "@bufbuild/protobuf";
import { type AgentEventRecord, AgentEventRecordSchema } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { AgentRunContextSchema } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import { type AgentEvent, AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { queueHiddenRuns } from "../../../engine/storage/run-start.ts";
import type { Cursors } from "../../../platform/auth/cursor.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { firstCharacters } from "../../../platform/base/first-characters.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { parseTraceParent } from "../../../platform/base/trace-parent.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { insertAgentEvent } from "../storage/agent-event.ts";
import { putArtifact } from "../storage/artifact.ts";
import { listBindingsOfScopes } from "../storage/binding.ts";
import { advanceConversation } from "../storage/conversation.ts";
import { insertHistoryItem } from "../storage/history-item.ts";
import { insertRemoteRun } from "../storage/remote-run.ts";
import { findRunner, findRunnerAddress, type RunnerAddress } from "../storage/runner.ts";
import { readStateSnapshot } from "../storage/state-snapshot.ts";
import { withAgent } from "./agent-profile.ts";
import { type Authorized, authorize, type ResourceFinder } from "./authorize.ts";
import { bindingFromRow, resolveBinding, scopesOfEvent, timeoutOf } from "./binding.ts";
import { buildContext, type ConversationPast, defaultSource, type StateSnapshot } from "./context.ts";
import { type Era, isEra, printContext } from "./era.ts";
import { type EventMessage, inputMessage, inputText } from "./event-message.ts";
import { scopeOfEvent } from "./event-scope.ts";
import { assertStorable } from "./free-fields.ts";
import { historyCursorScope } from "./history-cursor.ts";
import { keptServersToBytes } from "./kept-servers.ts";
import { manifestFromBytes } from "./manifest.ts";
import { workerSeenWithinMs } from "./register.ts";
import { conversationKey, type RunScope, stateKey } from "./scope.ts";

/** Dependencies of starting a run. */
export interface StartEventDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly resources: ResourceFinder;
  /** The version of the host, for runners. */
  readonly version: string;
}

/** The driver of all runs of runners. */
const remoteDriver = "remote-runner";

/** How long a run waits for a worker. */
const offeredForMs = 60_000;

/** The maximum bytes of a context. A runner gets it in one message; this leaves room for the rest. */
const contextBytesMax = 3 * 1_048_576;
/** The maximum bytes of each scope's state: the largest possible value and small ones. The runner can ask for the rest. */
const stateBytesMax = 327_680;

const summaryCharsMax = 1_000;
const historyCharsMax = 4_000;

/** The decisions about an event, before anything is written. */
export interface PreparedStart {
  readonly client: string;
  readonly event: AgentEvent;
  /** The caller's own; undefined for none. */
  readonly annotations: string | undefined;
  /** The message of the event; undefined for an event without a message. */
  readonly message: EventMessage | undefined;
  readonly binding: Binding;
  readonly era: Era;
  /** The address where the runner is dialled. Undefined for a runner that dials in. */
  readonly address: RunnerAddress | undefined;
  readonly scope: RunScope;
  /** The session that the run will have. */
  readonly session: string;
  readonly authorized: Authorized;
  readonly state: StateSnapshot;
  readonly timeoutMs: number;
  readonly traceParent: string | undefined;
}

/**
 * Decides about an event. Throws Fault INVALID_ARGUMENT, BINDING_NOT_FOUND, BINDING_AMBIGUOUS, AGENT_NOT_FOUND, RUNNER_NOT_FOUND or
 * MCP_SERVER_FAILED.
 */
export async function prepareStart(
  deps: StartEventDeps,
  { client, event, annotations, traceParent }: Pick<PreparedStart, "client" | "event" | "annotations" | "traceParent">,
): Promise<PreparedStart> {
  assertStorable(AgentEventSchema, event, "event");
  const message = inputMessage(event.input, () => newUuid(deps.clock.nowMs()));
  const rows = await listBindingsOfScopes(deps.db, { client, scopes: scopesOfEvent(event) });
  const binding = await withAgent(deps.db, client, resolveBinding(rows.map(bindingFromRow), event));
  const timeoutMs = timeoutOf(binding);
  const { runnerId, bindingId } = binding;
  const runner = await findRunner(deps.db, { client, runnerId, seenWithinMs: workerSeenWithinMs });
  if (runner === undefined || !isEra(runner.era)) {
    const why = `binding ${JSON.stringify(bindingId)} names the runner ${runnerId}, which is not registered`;
    throw new Fault(reasons.RUNNER_NOT_FOUND, why);
  }
  const scope = scopeOfEvent(event, { client, runnerId, bindingId });
  const session = newUuid(deps.clock.nowMs());
  const manifest = manifestFromBytes(runner.manifest);
  const authorized = await authorize({ manifest, binding, scope, session }, deps.resources);
  const state = await readState(deps.db, scope, authorized);
  const address = runner.url === null ? undefined : await findRunnerAddress(deps.db, { client, runnerId });
  return {
    client,
    event,
    annotations,
    message,
    binding,
    era: runner.era,
    address,
    scope,
    session,
    authorized,
    state,
    timeoutMs,
    traceParent,
  };
}

/** Queues the run and returns its id. Throws Fault PAYLOAD_TOO_LARGE when its context is too large. */
export async function writeStart(trx: Transaction, deps: StartEventDeps, start: PreparedStart): Promise<string> {
  const { client, event, annotations, scope, binding, era, address, authorized, timeoutMs, traceParent } = start;
  const nowMs = deps.clock.nowMs();
  const runId = newUuid(nowMs);
  const text = inputText(event.input);
  const { runnerId, bindingId } = scope;
  const queued = {
    id: runId,
    session: start.session,
    client,
    driver: remoteDriver,
    sessionAgent: toBinary(AgentSchema, create(AgentSchema, { name: runnerId })),
    agentName: runnerId,
    runnerId,
    annotations,
    input: toBinary(MessageSchema, create(MessageSchema, { role: "user", content: { case: "text", value: text } })),
    timeoutMs,
    unclaimedForMs: address === undefined ? offeredForMs : 0,
    traceParent,
  };
  const deadlines = await queueHiddenRuns(trx, [queued], { runner_id: ["text", () => runnerId] });
  const deadlineMs = deadlines.get(runId);
  if (deadlineMs === undefined) {
    throw new Error("a run that was queued has no deadline");
  }
  const past = await placeEvent(trx, deps, { runId, nowMs, text, ...start });
  const context = buildContext({
    runId,
    event,
    scope,
    binding,
    authorized,
    state: start.state,
    past,
    deadlineMs,
    traceId: parseTraceParent(traceParent)?.traceId,
    hostVersion: deps.version,
  });
  if (Buffer.byteLength(printContext(context, era)) > contextBytesMax) {
    const fix = "send large parts by URL, and keep the configuration small";
    throw new Fault("PAYLOAD_TOO_LARGE", `the context of the run is larger than ${contextBytesMax} bytes: ${fix}`);
  }
  const bytes = toBinary(AgentRunContextSchema, context);
  await insertRemoteRun(trx, {
    runId,
    client,
    runnerId,
    bindingId,
    era,
    scope,
    granted: authorized.grant,
    context: bytes,
    mcp: authorized.servers && keptServersToBytes(authorized.servers),
    address,
  });
  failpoint("event.written");
  return runId;
}

interface PlacedEvent extends PreparedStart {
  readonly runId: string;
  readonly nowMs: number;
  readonly text: string;
}

/** Appends the event and its message to their conversation. Returns undefined for an event without a conversation. */
async function placeEvent(
  trx: Transaction,
  { cursors }: StartEventDeps,
  placed: PlacedEvent,
): Promise<ConversationPast | undefined> {
  const { client, event, message, scope, runId, text } = placed;
  const { eventId, eventType } = event;
  const conversation = conversationKey(scope);
  if (conversation === undefined) {
    const record = toBinary(AgentEventRecordSchema, recordOf(placed, undefined));
    await insertAgentEvent(trx, { runId, client, eventId, eventType, place: undefined, record });
    return undefined;
  }
  const items = message === undefined ? 0 : 1;
  const end = await advanceConversation(trx, { scope: conversation, client, items, events: 1 });
  if (message !== undefined) {
    await insertHistoryItem(trx, {
      scope: conversation,
      seq: end.last_item,
      id: newUuid(placed.nowMs),
      runId,
      eventId,
      role: "user",
      content: text === "" ? undefined : firstCharacters(text, historyCharsMax),
      contentJson: message.json,
    });
    for (const media of message.media) {
      const owner = { client, runId, runnerId: scope.runnerId, scope: conversation };
      await putArtifact(trx, { ...owner, ...media, metadata: "{}", source: "event" });
    }
  }
  const place = { scope: conversation, seq: end.last_event };
  const record = toBinary(AgentEventRecordSchema, recordOf(placed, end.last_event));
  await insertAgentEvent(trx, { runId, client, eventId, eventType, place, record });
  const before = end.last_item - items;
  return {
    eventSeq: end.last_event,
    itemSeq: message === undefined ? undefined : end.last_item,
    hasHistoryBefore: before > 0,
    // Pages go back from here, to the items before the event.
    latestCursor: cursors.encode(historyCursorScope(runId, conversation), String(before + 1)),
  };
}

function recordOf({ event, scope, nowMs, text }: PlacedEvent, seq: number | undefined): AgentEventRecord {
  const { botId, workspaceId, conversationId, threadId, actor, subject } = scope;
  const { eventTime } = event;
  const rawRef = event.rawRef?.refId ?? event.rawRef?.storageKey;
  const actorName = event.actor?.actorName;
  return create(AgentEventRecordSchema, {
    eventId: event.eventId,
    eventType: event.eventType,
    source: event.source || defaultSource,
    ...(eventTime !== undefined && { eventTime }),
    ...(botId !== undefined && { botId }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(conversationId !== undefined && { conversationId }),
    ...(threadId !== undefined && { threadId }),
    ...(actor !== undefined && { actorType: actor.type }),
    ...(actor?.id !== undefined && { actorId: actor.id }),
    ...(actorName !== undefined && { actorName }),
    ...(subject !== undefined && { subjectType: subject.type }),
    ...(subject?.id !== undefined && { subjectId: subject.id }),
    ...(text !== "" && { inputSummary: firstCharacters(text, summaryCharsMax) }),
    ...(rawRef !== undefined && { rawRef }),
    ...(seq !== undefined && { seq: BigInt(seq) }),
    createdAt: BigInt(Math.floor(nowMs / 1_000)),
    metadata: "{}",
  });
}

async function readState(db: Db, scope: RunScope, { grant }: Authorized): Promise<StateSnapshot> {
  const entries = await Promise.all(
    grant.stateScopes.map(async (of) => {
      const owner = stateKey(scope, of);
      const values = owner === undefined ? [] : await readStateSnapshot(db, { owner, bytesMax: stateBytesMax });
      return [of, values] as const;
    }),
  );
  return Object.fromEntries(entries);
}
