// SessionService: sessions and their messages, over the run log.

import { create, toBinary } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { AgentSchema, CallbackSchema, Session_State } from "#gen/runnel/v1/session_pb.js";
import {
  type CreateSessionRequest,
  CreateSessionRequestSchema,
  type CreateSessionResponse,
  CreateSessionResponseSchema,
  type SessionService,
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
} from "#gen/runnel/v1/session_service_pb.js";
import { assertResultsKept } from "../engine/log/results-kept.ts";
import { beyondEnd } from "../engine/log/tail.ts";
import { announceCallback } from "../engine/runs/callback.ts";
import { cancelRunWithin } from "../engine/runs/cancel.ts";
import { callbackUrlOf, checkCallback } from "../engine/sessions/callback.ts";
import { presentSession } from "../engine/sessions/present.ts";
import { purgeSession } from "../engine/sessions/purge.ts";
import { findClientRun, isActive } from "../engine/storage/run.ts";
import {
  findSession,
  insertSession,
  listSessions,
  lockSession,
  markSessionDeleted,
  type SessionRow,
  type SessionWithRun,
} from "../engine/storage/session.ts";
import { requireClient, requireReader } from "../platform/auth/caller.ts";
import { Fault } from "../platform/base/fault.ts";
import { newSessionId, newUuid } from "../platform/base/ids.ts";
import { restCallNotes } from "../platform/base/rest-call.ts";
import type { Sink } from "../platform/base/sink.ts";
import { traceParentOf } from "../platform/base/trace-parent.ts";
import type { Db, Transaction } from "../platform/database/database.ts";
import type { Events } from "../platform/telemetry/events.ts";
import { parsePosition, type RunPosition, streamSession } from "../protocols/agent-runner/stream.ts";
import type { ServiceDeps } from "./deps.ts";
import { answerOnce } from "./idempotency.ts";
import { live } from "./live.ts";
import { nextPageToken, pageSize } from "./page.ts";
import { requireFound, sendMessage } from "./send-message.ts";
import { findInputFault } from "./validation.ts";

export function createSessionService(
  deps: ServiceDeps & { readonly events: Events },
): ServiceImpl<typeof SessionService> {
  return {
    createSession: (request, context) => createSession(deps, clientOf(context), request),
    getSession: async ({ sessionId }, context) => ({
      session: presentSession(await requireSession(deps.db, clientOf(context), sessionId)),
    }),
    listSessions: async (request, context) => {
      const client = clientOf(context);
      const limit = pageSize(request.pageSize);
      const scope = ["sessions", client];
      const before = deps.cursors.decode(scope, request.pageToken);
      const rows = await listSessions(deps.db, { client, before, limit });
      return {
        sessions: rows.map(presentSession),
        nextPageToken: nextPageToken(rows, limit, ({ id }) => deps.cursors.encode(scope, id)),
      };
    },
    deleteSession: async ({ sessionId }, context) => {
      await deleteSession(deps, clientOf(context), sessionId);
      return { status: "deleted" };
    },
    purgeSession: async ({ sessionId: name }, context) => {
      const { runs, results } = await purgeSession(deps, { client: clientOf(context), name });
      deps.events.sessionPurged({ runs, results });
      return { runs, results: BigInt(results) };
    },
    sendMessage: async (request, context) => {
      const client = clientOf(context);
      const inputFault = findInputFault(context.values);
      if (inputFault !== undefined) {
        await requireSession(deps.db, client, request.sessionId);
        throw inputFault;
      }
      return await sendMessage(deps, client, request, traceParentOf(context.values));
    },
    streamSession: (request, context) => oneByOne(followSession(deps, request, context)),
  };
}

function clientOf(context: HandlerContext): string {
  return requireClient(context.values).client;
}

async function createSession(
  deps: ServiceDeps,
  client: string,
  request: CreateSessionRequest,
): Promise<CreateSessionResponse> {
  const call = {
    client,
    request,
    requestId: request.requestId,
    requestSchema: CreateSessionRequestSchema,
    responseSchema: CreateSessionResponseSchema,
  };
  const insert = (db: Db | Transaction) => insertNewSession(db, deps, client, request);
  // Alone it is one statement, which needs no transaction around it.
  const response =
    request.requestId === ""
      ? await insert(deps.db)
      : await deps.db.transaction().execute((trx) => answerOnce(trx, call, () => insert(trx)));
  announceCallback(deps.wakeup, callbackUrlOf(request.callback, deps.config.callbackBaseUrl));
  return response;
}

async function insertNewSession(
  db: Db | Transaction,
  deps: ServiceDeps,
  client: string,
  request: CreateSessionRequest,
): Promise<CreateSessionResponse> {
  if (request.workDir !== "") {
    await deps.workDirs.check(request.workDir);
  }
  checkCallback(request.callback, deps.egress);
  const name = request.sessionId === "" ? newSessionId() : request.sessionId;
  const callbackUrl = callbackUrlOf(request.callback, deps.config.callbackBaseUrl);
  const inserted = await insertSession(db, {
    id: newUuid(deps.clock.nowMs()),
    client,
    name,
    agent: toBinary(AgentSchema, request.agent ?? create(AgentSchema)),
    workDir: request.workDir === "" ? undefined : request.workDir,
    callback: request.callback && toBinary(CallbackSchema, request.callback),
    callbackUrl,
  });
  if (!inserted) {
    throw new Fault("SESSION_EXISTS", `session "${name}" already exists`);
  }
  return create(CreateSessionResponseSchema, { sessionId: name, status: Session_State.CREATED });
}

async function deleteSession(deps: ServiceDeps, client: string, name: string): Promise<void> {
  const announce = await deps.db.transaction().execute(async (trx) => {
    const session = requireFound(await lockSession(trx, { client, name }));
    await markSessionDeleted(trx, session.id);
    const { latest_run_id: runId } = session;
    const announceCancel = runId === null ? () => {} : await cancelRunWithin(trx, deps, runId);
    return () => {
      announceCancel();
      // A reader that waits for a first message learns that there will be none.
      deps.wakeup.publish({ topic: "session", key: session.id, value: 0 });
    };
  });
  announce();
}

/** The session's events, those of one result together; an empty batch opens the stream and keeps it alive. */
export async function* followSession(
  deps: ServiceDeps,
  request: StreamSessionRequest,
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
  sink?: Sink<readonly StreamSessionResponse[]>,
): AsyncGenerator<readonly StreamSessionResponse[], void> {
  const { client } = requireReader(values, { sessionId: request.sessionId });
  const session = await requireSession(deps.db, client, request.sessionId);
  const isReconnect = restCallNotes(values)?.isReconnect === true;
  const from = parsePosition(request.after, { latestRunId: session.latest_run_id, isReconnect });
  if (from !== undefined && (await hasEverything(deps.db, client, session, from))) {
    return;
  }
  if (from === undefined && session.run_status !== null && !isActive(session.run_status)) {
    await assertResultsKept(deps.db, String(session.latest_run_id));
  }
  yield* live<readonly StreamSessionResponse[]>({
    open: (followed) => streamSession(deps, { session, from, signal: followed, sink }),
    empty: () => [],
    clock: deps.clock,
    reader: signal,
    drain: deps.drain,
  });
}

async function* oneByOne(
  batches: AsyncGenerator<readonly StreamSessionResponse[]>,
): AsyncGenerator<StreamSessionResponse> {
  for await (const batch of batches) {
    yield* batch.length === 0 ? [create(StreamSessionResponseSchema)] : batch;
  }
}

/** True when the position is the run's terminal result: there is nothing to follow. */
async function hasEverything(db: Db, client: string, session: SessionRow, from: RunPosition): Promise<boolean> {
  const run = await findClientRun(db, { client, id: from.runId });
  if (run?.session !== session.id) {
    throw new Fault("CURSOR_INVALID", `invalid after: run ${from.runId} is not one of this session`, {
      violations: [{ field: "after", description: "use the id of an event of this session" }],
    });
  }
  if (isActive(run.status)) {
    return false;
  }
  if (from.sequence > run.last_sequence) {
    throw beyondEnd(from.sequence, run.last_sequence);
  }
  if (from.sequence === run.last_sequence) {
    return true;
  }
  await assertResultsKept(db, run.id);
  return false;
}

async function requireSession(db: Db, client: string, name: string): Promise<SessionWithRun> {
  return requireFound(await findSession(db, { client, name }));
}
