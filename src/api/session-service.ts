// SessionService: sessions and their messages, over the run log.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema, CallbackSchema, type Fork, Session_State } from "#gen/runnel/v1/session_pb.js";
import {
  type CreateSessionRequest,
  type CreateSessionResponse,
  CreateSessionResponseSchema,
  ListMessagesRequest_Order,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import { announceCallback } from "../engine/runs/callback.ts";
import { cancelRunWithin } from "../engine/runs/cancel.ts";
import { callbackUrlOf, checkCallback } from "../engine/sessions/callback.ts";
import { purgeSession } from "../engine/sessions/purge.ts";
import { listedToProto, sessionToProto, statusesOf } from "../engine/sessions/to-proto.ts";
import { listPendingRuns } from "../engine/storage/pending-run.ts";
import {
  findSession,
  insertSession,
  listSessions,
  lockSession,
  markSessionDeleted,
  type SessionWithRun,
  updateAnnotations,
} from "../engine/storage/session.ts";
import { noRunId, readTranscriptPage } from "../engine/storage/transcript.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault } from "../platform/base/fault.ts";
import { newSessionId, newUuid } from "../platform/base/ids.ts";
import { shared } from "../platform/base/shared.ts";
import { traceParentOf } from "../platform/base/trace-parent.ts";
import type { Db, Transaction } from "../platform/database/database.ts";
import { afterCommit, inTransaction } from "../platform/database/in-transaction.ts";
import { pageBytesMax } from "../platform/database/row-page.ts";
import { replaceSettings } from "./agent-settings.ts";
import { readAnnotations } from "./annotations.ts";
import type { ServiceDeps } from "./deps.ts";
import { copyMessages, openOrigin } from "./fork.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { claimCall, keepAnswer, repeatable } from "./idempotency.ts";
import { nextTokenOf, pageSize } from "./page.ts";
import { type Presets, readPresets, requirePreset } from "./presets.ts";
import { requireFound, sendMessage } from "./send-message.ts";
import { addMessages, deleteMessage } from "./session-messages.ts";
import { findInputFault } from "./validation.ts";

/** Returns the handlers of SessionService, except `streamSession`, which belongs to the Agent Runner protocol. */
export function createSessionService(deps: ServiceDeps): Omit<ServiceImpl<typeof SessionService>, "streamSession"> {
  const presets = presetsOf(deps);
  return {
    createSession: (request, context) => createSession(deps, clientOf(context), request),
    listPresets: () => ({ presets: [...presets.values()].map(hideSecrets) }),
    getSession: async ({ sessionId }, context) => ({
      session: sessionToProto(await requireSession(deps.db, clientOf(context), sessionId)),
    }),
    listSessions: async (request, context) => {
      const client = clientOf(context);
      const limit = pageSize(request.pageSize);
      const { states, agentName, forkOf } = request;
      const filters = [...states.toSorted().map(String), agentName, forkOf];
      const scope = ["sessions", client, ...(filters.join("") === "" ? [] : filters)];
      const before = deps.cursors.decode(scope, request.pageToken);
      const filter = {
        client,
        runStatuses: states.length === 0 ? undefined : states.flatMap(statusesOf),
        agentName: agentName || undefined,
        forkOf: forkOf || undefined,
      };
      const { rows, next } = await listSessions(deps.db, filter, { before, limit });
      return {
        sessions: rows.map(listedToProto),
        nextPageToken: next === undefined ? "" : deps.cursors.encode(scope, next),
      };
    },
    deleteSession: async ({ sessionId }, context) => {
      await deleteSession(deps, clientOf(context), sessionId);
      return { status: "deleted" };
    },
    listMessages: async ({ sessionId, pageSize: asked, pageToken, order }, context) => {
      const client = clientOf(context);
      const { id } = await requireSession(deps.db, client, sessionId);
      const newestFirst = order === ListMessagesRequest_Order.NEWEST_FIRST;
      const scope = ["messages", client, id, ...(newestFirst ? ["newest first"] : [])];
      const position = deps.cursors.decode(scope, pageToken);
      const from = position === undefined ? undefined : Number(position);
      const page = { session: id, from, newestFirst, rowsMax: pageSize(asked), bytesMax: pageBytesMax };
      const { rows, hasMore } = await readTranscriptPage(deps.db, page);
      return {
        messages: rows.map(({ position, runId, message }) => ({
          number: position + 1,
          runId: runId === noRunId ? "" : runId,
          message: fromBinary(MessageSchema, message),
        })),
        nextPageToken: nextTokenOf({ rows, hasMore }, ({ position }) =>
          deps.cursors.encode(scope, String(position + (newestFirst ? -1 : 1))),
        ),
      };
    },
    addMessages: async (request, context) => await addMessages(deps, clientOf(context), request),
    deleteMessage: async (request, context) => {
      await deleteMessage(deps, clientOf(context), request);
      return {};
    },
    updateSession: async ({ sessionId: name, annotations }, context) => {
      const client = clientOf(context);
      await updateAnnotations(deps.db, { client, name, annotations: readAnnotations(annotations) });
      return { session: sessionToProto(await requireSession(deps.db, client, name)) };
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
  };
}

function clientOf(context: HandlerContext): string {
  return requireClient(context.values).client;
}

const presetsOf = shared(readPresets);

/** Returns the request with the agent of its preset. */
function withPreset(presets: Presets, request: CreateSessionRequest): CreateSessionRequest {
  const { preset } = request;
  return preset === ""
    ? request
    : { ...request, agent: replaceSettings(requirePreset(presets, preset), request.agent) };
}

/**
 * Creates a session of a client.
 * @throws Fault SESSION_EXISTS, PRESET_NOT_FOUND, INVALID_ARGUMENT, and those of a fork.
 */
async function createSession(
  deps: ServiceDeps,
  client: string,
  asked: CreateSessionRequest,
): Promise<CreateSessionResponse> {
  const request = completeRequest(deps, asked);
  const { requestId, fork, workDir } = request;
  // Most inserts are a single statement, which needs no transaction.
  if (requestId !== "" || fork !== undefined || workDir !== "") {
    return await inTransaction(deps.db, (trx) => createSessionWithin(trx, deps, client, asked));
  }
  const response = await insertNewSession(deps.db, deps, client, request);
  announceSession(deps, request);
  return response;
}

/**
 * Creates a session in a transaction of `inTransaction`, whose commit announces it.
 * @throws Fault those of `createSession`.
 */
export async function createSessionWithin(
  trx: Transaction,
  deps: ServiceDeps,
  client: string,
  asked: CreateSessionRequest,
): Promise<CreateSessionResponse> {
  const request = completeRequest(deps, asked);
  const call = repeatable(client, SessionService.method.createSession, request);
  const known = await claimCall(trx, call);
  if (known !== undefined) {
    return known;
  }
  const { fork } = request;
  const response =
    fork === undefined
      ? await insertInPlace(trx, deps, client, request)
      : await insertFork(trx, deps, client, { ...request, fork });
  afterCommit(trx, () => announceSession(deps, request));
  return await keepAnswer(trx, call, response);
}

/** Returns the request with the settings that it leaves to the service. */
function completeRequest(deps: ServiceDeps, asked: CreateSessionRequest): CreateSessionRequest {
  return { ...withPreset(presetsOf(deps), asked), workDir: asked.workDir || (deps.workDirs.usual ?? "") };
}

function announceSession({ wakeup, config }: ServiceDeps, { callback }: CreateSessionRequest): void {
  announceCallback(wakeup, callbackUrlOf(callback, config.callbackBaseUrl));
}

async function insertFork(
  trx: Transaction,
  deps: ServiceDeps,
  client: string,
  request: CreateSessionRequest & { readonly fork: Fork },
): Promise<CreateSessionResponse> {
  const origin = await openOrigin(trx, client, request.fork, request);
  const { agent, callback } = origin;
  const id = newUuid(deps.clock.nowMs());
  const asked = { ...request, ...(agent && { agent }), ...(callback && { callback }) };
  const own = { id, fork: origin.encoded, forkedFrom: origin.session.id };
  const response = await insertInPlace(trx, deps, client, asked, own);
  await copyMessages(trx, origin, id);
  return response;
}

/** Inserts a session that may name a directory. */
async function insertInPlace(
  trx: Transaction,
  deps: ServiceDeps,
  client: string,
  request: NewSessionRequest,
  own?: OwnValues,
): Promise<CreateSessionResponse> {
  if (request.workDir !== "") {
    await deps.workDirs.claim(trx, request.workDir, client);
  }
  return await insertNewSession(trx, deps, client, request, own);
}

type NewSessionRequest = Pick<CreateSessionRequest, "sessionId" | "workDir" | "agent" | "callback" | "annotations">;

interface OwnValues {
  readonly id: string;
  readonly fork: Uint8Array;
  readonly forkedFrom: string;
}

/** Inserts a session whose directory, if it names one, is the client's. */
async function insertNewSession(
  db: Db | Transaction,
  deps: ServiceDeps,
  client: string,
  request: NewSessionRequest,
  own?: OwnValues,
): Promise<CreateSessionResponse> {
  checkCallback(request.callback, deps.egress);
  const name = request.sessionId === "" ? newSessionId() : request.sessionId;
  const callbackUrl = callbackUrlOf(request.callback, deps.config.callbackBaseUrl);
  const inserted = await insertSession(db, {
    id: newUuid(deps.clock.nowMs()),
    ...own,
    client,
    name,
    agent: toBinary(AgentSchema, request.agent ?? create(AgentSchema)),
    workDir: request.workDir === "" ? undefined : request.workDir,
    callback: request.callback && toBinary(CallbackSchema, request.callback),
    annotations: readAnnotations(request.annotations),
    callbackUrl,
  });
  if (!inserted) {
    throw new Fault("SESSION_EXISTS", `session "${name}" already exists`);
  }
  return create(CreateSessionResponseSchema, { sessionId: name, status: Session_State.CREATED });
}

async function deleteSession(deps: ServiceDeps, client: string, name: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const session = requireFound(await lockSession(trx, { client, name }));
    await markSessionDeleted(trx, session.id);
    const { latest_run_id: runId } = session;
    for (const id of [...(await listPendingRuns(trx, session.id)), ...(runId === null ? [] : [runId])]) {
      await cancelRunWithin(trx, deps, id);
    }
    // Wakes a reader that waits for a first message: the session will not get one.
    afterCommit(trx, () => deps.wakeup.publish({ topic: "session", key: session.id, value: 0 }));
  });
}

/** Returns a session of the client. Throws SESSION_NOT_FOUND for an unknown session and for a session of another client. */
export async function requireSession(db: Db, client: string, name: string): Promise<SessionWithRun> {
  return requireFound(await findSession(db, { client, name }));
}
