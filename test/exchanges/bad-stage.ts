// Exchanges in every state, and a snapshot that proves that a refused call changed none of them.

import { expect } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { Refused } from "../conformance/surface.ts";
import { test as base } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { findTransport, type Started } from "./transports.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

export interface BadStage {
  readonly service: TestService;
  readonly workspace: Workspace;
  /** Waits for its first answer. */
  readonly waiting: string;
  /** Its first outbox was answered with `message`; its second one waits. */
  readonly second: string;
  /** Ended by `done`; the next three ended in other transports. */
  readonly completed: string;
  readonly cancelled: string;
  readonly failed: string;
  readonly deleted: string;
}

export const message = "[MESSAGE]\nfirst\n[/MESSAGE]\n";
export const done = "[DONE]\nall\n[/DONE]\n";

export async function setBadStage(): Promise<BadStage> {
  const service = await startService();
  const workspace = await openWorkspace({ "here.txt": "here\n" });
  const api = findTransport("gRPC").open(service);
  const client = new GrpcClient(service.target);
  const open = async (): Promise<Started> => {
    const started = await api.start({ task: "a task", workDir: workspace.path });
    await api.readOutbox(started.exchange_id);
    return started;
  };
  const [waiting, second, completed, cancelled, failed, deleted] = await Promise.all([
    open(),
    open(),
    open(),
    open(),
    open(),
    open(),
  ]);
  await Promise.all([
    api.submit({ exchangeId: second.exchange_id, text: message }).then(() => api.readOutbox(second.exchange_id)),
    api.submit({ exchangeId: completed.exchange_id, text: done }),
    client.call(RunService.method.cancelRun, { runId: cancelled.run_id }),
    client.call(SessionService.method.deleteSession, { sessionId: deleted.session_id }),
    query(service.databaseUrl, "update run set deadline = now(), wake_at = now() where id = $1", [failed.run_id]),
  ]);
  await until("the exchange whose time is over to have failed", async () => {
    return (await api.get(failed.exchange_id)).state === "failed";
  });
  return {
    service,
    workspace,
    waiting: waiting.exchange_id,
    second: second.exchange_id,
    completed: completed.exchange_id,
    cancelled: cancelled.exchange_id,
    failed: failed.exchange_id,
    deleted: deleted.exchange_id,
  };
}

export const test = base.extend("stage", () => setBadStage());

/** A snapshot: the state of every exchange, the row counts, and the files of the workspace. */
export async function look({ service, workspace }: BadStage): Promise<unknown> {
  const tables = ["session", "run", "run_result", "exchange_inbox", "exchange_command", "idempotency"];
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  const [rows] = await query(
    service.databaseUrl,
    `select ${counts.join(", ")},
       (select json_agg(json_build_array(e.id, e.sequence, md5(e.outbox), r.status) order by e.session)
        from exchange e join run r on r.id = e.run_id) as exchanges`,
  );
  return { rows, files: workspace.read() };
}

/** Words of a database, a stack or a source tree: no answer may contain them. */
const internals =
  /\bselect \b|\binsert into\b|postgres|relation "|constraint|out of range for type|node_modules|\/src\/|\.ts\b|\n\s+at |TypeError|undefined|\[object/i;

export interface Refusal {
  readonly grpcCode: string;
  readonly httpStatus: number;
  readonly reason: string;
  readonly field?: string;
  readonly text?: RegExp;
}

/** Uses soft expectations, so that one run reports all failures. */
export async function expectRefused(call: Promise<unknown>, refusal: Refusal, what: string): Promise<void> {
  const error = await call.then(
    (answer) => new Error(`was not refused: ${JSON.stringify(answer)}`),
    (failure: unknown) => failure,
  );
  if (!(error instanceof Refused)) {
    expect.soft(error, what).toBeInstanceOf(Refused);
    return;
  }
  const { grpcCode, httpStatus, reason, violations } = error;
  expect.soft(grpcCode ?? httpStatus, what).toBe(grpcCode === undefined ? refusal.httpStatus : refusal.grpcCode);
  expect.soft(reason, what).toBe(refusal.reason);
  expect.soft(violations[0]?.field, what).toBe(refusal.field);
  expect.soft(error.message, what).toMatch(refusal.text ?? /./);
  expect.soft(error.message, what).not.toMatch(internals);
  expect.soft(error.message.length, what).toBeLessThan(1_100);
}

export function invalid(field: string, text?: RegExp): Refusal {
  return {
    grpcCode: "INVALID_ARGUMENT",
    httpStatus: 400,
    reason: "INVALID_ARGUMENT",
    field,
    ...(text !== undefined && { text }),
  };
}

export const notFound: Refusal = {
  grpcCode: "NOT_FOUND",
  httpStatus: 404,
  reason: "EXCHANGE_NOT_FOUND",
  text: /^exchange not found$/,
};

function failedPrecondition(reason: string, text: RegExp): Refusal {
  return { grpcCode: "FAILED_PRECONDITION", httpStatus: 409, reason, text };
}

export function stale(text: RegExp): Refusal {
  return failedPrecondition("INBOX_STALE", text);
}

export function ended(status: string): Refusal {
  return failedPrecondition("EXCHANGE_ENDED", new RegExp(`has ended \\(${status}\\): start another one$`));
}

export const tooLarge: Refusal = {
  grpcCode: "RESOURCE_EXHAUSTED",
  httpStatus: 413,
  reason: "PAYLOAD_TOO_LARGE",
};
