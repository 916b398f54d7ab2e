// Starts an exchange in one transaction: a session with its workspace, a run that parks between texts, and the row of the
// exchange with its outbox and its answers.

import { create, toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { type StartDeps, startRun } from "../../engine/runs/start.ts";
import type { WorkDirs } from "../../engine/sessions/work-dirs.ts";
import { insertSession } from "../../engine/storage/session.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import { newExchangeId, newUuid } from "../../platform/base/ids.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { encodeResults } from "./results.ts";
import type { ImportedSession } from "./session-json.ts";
import { countOpenExchanges, insertExchange, lockExchangeStarts } from "./storage/exchange.ts";

/** The name of the driver of exchanges. */
export const driverName = "text-exchange";

/** Dependencies of `startExchange`. */
export interface StartExchangeDeps extends StartDeps {
  readonly exchanges: ExchangeLimits;
  readonly workDirs: WorkDirs;
}

/** Limits of exchanges. */
export interface ExchangeLimits {
  /** The maximum number of open exchanges of one client. */
  readonly openMax: number;
  /** The maximum duration of one exchange. */
  readonly timeoutMs: number;
}

/** An exchange to start. */
export interface NewExchangeRequest {
  readonly client: string;
  readonly task: string;
  readonly workDir: string | undefined;
  readonly traceParent: string | undefined;
  /** The imported state; undefined for an exchange that begins here. */
  readonly imported: ImportedSession | undefined;
}

/** A started exchange. */
export interface StartedExchange {
  readonly id: string;
  readonly runId: string;
  readonly sequence: number;
}

/**
 * Starts an exchange in a transaction of `inTransaction`. Returns undefined when the id is taken: the caller then rolls back.
 * @throws Fault CONCURRENCY_EXHAUSTED when the client has too many open exchanges, INVALID_ARGUMENT for a work directory that it
 * may not name.
 */
export async function startExchange(
  trx: Transaction,
  deps: StartExchangeDeps,
  request: NewExchangeRequest,
): Promise<StartedExchange | undefined> {
  const { clock, exchanges, workDirs } = deps;
  const { client, task, workDir, traceParent, imported } = request;
  await admitExchange(trx, client, exchanges.openMax);
  if (workDir !== undefined) {
    await workDirs.claim(trx, workDir, client);
  }
  const id = imported?.id ?? newExchangeId();
  const session = newUuid(clock.nowMs());
  const agent = toBinary(AgentSchema, create(AgentSchema, { name: driverName }));
  if (!(await insertSession(trx, { id: session, client, name: id, agent, workDir, callback: undefined }))) {
    return undefined;
  }
  const input = toBinary(
    MessageSchema,
    create(MessageSchema, { role: "user", content: { case: "text", value: task } }),
  );
  const { timeoutMs } = exchanges;
  const runId = await startRun(trx, deps, {
    client,
    session,
    driver: driverName,
    agentName: driverName,
    input,
    traceParent,
    timeoutMs,
  });
  const { sequence = 1, isComplete = false, readRequests = [] } = imported ?? {};
  const isNew = await insertExchange(trx, {
    client,
    id,
    session,
    runId,
    task,
    sequence,
    isComplete,
    readRequests,
    imported: imported && encodeResults(imported.results),
  });
  failpoint("exchange.written");
  return isNew ? { id, runId, sequence } : undefined;
}

async function admitExchange(trx: Transaction, client: string, openMax: number): Promise<void> {
  await lockExchangeStarts(trx, client);
  if ((await countOpenExchanges(trx, client)) >= openMax) {
    throw new Fault(
      "CONCURRENCY_EXHAUSTED",
      `max open exchanges of a client (${openMax}) reached: finish one, or cancel its run`,
    );
  }
}
