// A service with runs of runners that tests create directly: their rows exist, their owner is a replica that does nothing, and
// the test has their tokens.

import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ServiceError, status } from "@grpc/grpc-js";
import type { Selectable } from "kysely";
import { expect } from "vitest";
import { StatusSchema } from "#gen/google/rpc/status_pb.js";
import { type ApiError, ApiErrorSchema } from "#gen/runnel/host/v1/host_api_pb.js";
import { HostArtifactService, type ReadArtifactResponse } from "#gen/runnel/host/v1/host_artifact_service_pb.js";
import { AgentEventRecordSchema, HostHistoryService } from "#gen/runnel/host/v1/host_history_service_pb.js";
import { HostKnowledgeService } from "#gen/runnel/host/v1/host_knowledge_service_pb.js";
import { HostModelService } from "#gen/runnel/host/v1/host_model_service_pb.js";
import { HostRunService } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { HostToolService } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { keyedClient } from "../../src/platform/auth/caller.ts";
import { RunTokens } from "../../src/platform/auth/run-token.ts";
import { loadSecret } from "../../src/platform/auth/storage/secret.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { apis, type Grant } from "../../src/protocols/langbot/runners/grant.ts";
import { conversationKey, type RunScope, stateScopes } from "../../src/protocols/langbot/runners/scope.ts";
import { insertRemoteRun } from "../../src/protocols/langbot/storage/remote-run.ts";
import type { AuditEntryTable } from "../../src/protocols/langbot/storage/schema.ts";
import { test as base } from "../fixtures.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { addReplica, addRun, connect } from "../runlog/store.ts";

export const client = keyedClient("local");
export const method = {
  ...HostArtifactService.method,
  ...HostHistoryService.method,
  ...HostKnowledgeService.method,
  ...HostModelService.method,
  ...HostRunService.method,
  ...HostStorageService.method,
  ...HostToolService.method,
};

/** The runner of a run, limited to its calls of the host. */
export interface Runner {
  readonly runId: string;
  readonly scope: RunScope;
  readonly token: string;
  /** Adds the run's id to a request without one. */
  call<M extends UnaryMethod>(
    asked: M,
    request?: Omit<MessageInitShape<M["input"]>, "runId"> & { runId?: string },
    headers?: Readonly<Record<string, string>>,
  ): Promise<MessageShape<M["output"]>>;
  readArtifact(request: { artifactId: string; offset?: bigint; limit?: bigint }): Promise<ReadArtifactResponse[]>;
  /** The same runner with the token of another attempt. */
  as(attempt: number): Runner;
}

type UnaryMethod = DescMethod & { readonly methodKind: "unary" };

export interface Stage {
  readonly db: Db;
  readonly url: string;
  readonly target: string;
  addRunner(choice?: RunnerChoice): Promise<Runner>;
  /** Returns the audit entries of a run, oldest first. */
  audit(runId: string): Promise<Selectable<AuditEntryTable>[]>;
}

export interface RunnerChoice {
  readonly scope?: Partial<RunScope>;
  readonly grant?: Partial<Grant>;
  readonly timeoutMs?: number;
}

const everything: Grant = {
  models: {},
  tools: {},
  knowledgeBases: {},
  files: [],
  pluginStorage: true,
  workspaceStorage: true,
  apis,
  stateScopes,
  delivery: { streaming: true, reply: true },
  announcesStreaming: true,
};

export async function openStage(options: { readonly clock?: Clock } = {}): Promise<Stage> {
  const service = await startService({}, options);
  const { db } = connect(service.databaseUrl);
  const owner = await addReplica(db);
  const tokens = new RunTokens(await loadSecret(db, "run token"));
  const grpc = new GrpcClient(service.target, {});
  return {
    db,
    url: service.databaseUrl,
    target: service.target,
    addRunner: async ({ scope: parts, grant, timeoutMs = 3_600_000 } = {}) => {
      const run = await addRun(db, { owner, client, timeoutMs });
      const scope: RunScope = {
        client,
        runnerId: "plugin:author/name/runner",
        bindingId: "binding",
        eventId: `event of ${run.id}`,
        botId: "bot",
        workspaceId: "workspace",
        conversationId: "conversation",
        actor: { type: "user", id: "actor" },
        subject: { type: "message", id: "subject" },
        ...parts,
      };
      const { runnerId, bindingId } = scope;
      const granted = { ...everything, ...grant };
      const remote = {
        runId: run.id,
        client,
        runnerId,
        bindingId,
        era: "spec",
        scope,
        granted,
        context: Buffer.from("told"),
        address: undefined,
      };
      await db.transaction().execute((trx) => insertRemoteRun(trx, remote));
      await db.updateTable("remote_run").set({ attempt: 1 }).where("run_id", "=", run.id).execute();
      return openRunner({ grpc, tokens, runId: run.id, scope, attempt: 1 });
    },
    audit: async (runId) =>
      await db.selectFrom("audit_entry").selectAll().where("run_id", "=", runId).orderBy("id").execute(),
  };
}

export const test = base
  .extend("stage", () => openStage())
  .extend("db", ({ stage }) => stage.db)
  .extend("url", ({ stage }) => stage.url)
  .extend("addRunner", ({ stage }) => stage.addRunner)
  .extend("audit", ({ stage }) => stage.audit);

interface Calling {
  readonly grpc: GrpcClient;
  readonly tokens: RunTokens;
  readonly runId: string;
  readonly scope: RunScope;
  readonly attempt: number;
}

function openRunner(calling: Calling): Runner {
  const { grpc, tokens, runId, scope, attempt } = calling;
  const token = tokens.make({ runId, attempt });
  const headers = { authorization: `Bearer ${token}` };
  return {
    runId,
    scope,
    token,
    call: (asked, request, more) => grpc.call(asked, { runId, ...request } as never, { ...headers, ...more }),
    readArtifact: async (request) => {
      const messages: ReadArtifactResponse[] = [];
      for await (const message of grpc.stream(method.readArtifact, { runId, ...request }, headers)) {
        messages.push(message as ReadArtifactResponse);
      }
      return messages;
    },
    as: (other) => openRunner({ ...calling, attempt: other }),
  };
}

/** A refused call: the gRPC status and the protocol's error. */
export interface Refusal {
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const error = await call.then(
    () => expect.fail("the call was answered"),
    (failure: ServiceError) => failure,
  );
  const { code, message, retryable } = apiErrorOf(error);
  return { status: status[error.code] ?? "", code, message, retryable };
}

/** Returns the single error that runners read from a failure. */
export function apiErrorOf({ metadata }: Pick<ServiceError, "metadata">): ApiError {
  const [bytes] = metadata?.get("grpc-status-details-bin") ?? [];
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  const found = details.map((any) => anyUnpack(any, ApiErrorSchema)).filter((each) => each !== undefined);
  const [first] = found;
  if (first === undefined || found.length > 1) {
    throw new Error(`expected one ApiError, found ${found.length}`);
  }
  return first;
}

export const unauthorized = { status: "PERMISSION_DENIED", code: "unauthorized" };
export const invalid = { status: "INVALID_ARGUMENT", code: "invalid_argument" };
export const notFound = { status: "NOT_FOUND", code: "not_found" };
export const tooLarge = { status: "RESOURCE_EXHAUSTED", code: "payload_too_large" };

/** Ends a run without notifying any component. */
export async function endRun(db: Db, runId: string): Promise<void> {
  await db.updateTable("run").set({ status: "completed", owner: null }).where("id", "=", runId).execute();
}

export async function requestCancel(db: Db, runId: string): Promise<void> {
  await db.updateTable("run").set({ cancel_request_time: new Date() }).where("id", "=", runId).execute();
}

/** Appends messages of the run to its conversation. */
export async function addHistory(
  db: Db,
  { runId, scope }: Pick<Runner, "runId" | "scope">,
  said: readonly { readonly role?: string; readonly content: string }[],
): Promise<void> {
  const key = conversationKey(scope) ?? expect.fail("the run has no conversation");
  const { last_item: end } = await db
    .insertInto("conversation")
    .values({ scope: key, client, last_item: said.length })
    .onConflict((conflict) =>
      conflict.column("scope").doUpdateSet(({ eb }) => ({ last_item: eb("conversation.last_item", "+", said.length) })),
    )
    .returning("last_item")
    .executeTakeFirstOrThrow();
  const rows = said.map(({ role = "user", content }, index) => ({
    scope: key,
    seq: end - said.length + index + 1,
    id: newUuid(systemClock.nowMs()),
    run_id: runId,
    event_id: scope.eventId,
    role,
    content,
    content_json: JSON.stringify({ role, content }),
  }));
  await db.insertInto("history_item").values(rows).execute();
}

/** Appends the event of a run to its conversation. */
export async function addEvent(
  db: Db,
  { runId, scope }: Pick<Runner, "runId" | "scope">,
  { seq, type = "message.received" }: { seq: number; type?: string },
): Promise<void> {
  const key = conversationKey(scope) ?? null;
  if (key !== null) {
    await db
      .insertInto("conversation")
      .values({ scope: key, client })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const record = toBinary(
    AgentEventRecordSchema,
    create(AgentEventRecordSchema, { eventId: scope.eventId, eventType: type, source: "test", metadata: "{}" }),
  );
  await db
    .insertInto("agent_event")
    .values({
      run_id: runId,
      client,
      event_id: scope.eventId,
      event_type: type,
      scope: key,
      seq: key === null ? null : seq,
      record: Buffer.from(record),
    })
    .execute();
}
