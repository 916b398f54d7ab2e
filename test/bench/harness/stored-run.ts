// A finished run with a long log, written into the tables in the bytes that the service writes.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { LogChain, startOfChain } from "../../../src/engine/hash-chain/chain.ts";
import { encodeResult, type ResultInit } from "../../../src/engine/log/result.ts";
import { finishRun } from "../../../src/engine/storage/run.ts";
import { insertResults, type ResultRow } from "../../../src/engine/storage/run-result.ts";
import { insertRun } from "../../../src/engine/storage/run-start.ts";
import { findSession } from "../../../src/engine/storage/session.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import type { Db } from "../../../src/platform/database/database.ts";
import { openDatabase } from "../../../src/platform/database/open.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { benchClient } from "./credentials.ts";
import type { Home } from "./home.ts";
import type { Service } from "./service.ts";

/** A row takes four parameters, and a statement at most 65,535. */
const batchRows = 4_000;

/** The owner of a configured key, as the service names it. */
const benchOwner = `key/${benchClient}`;

/** Stores a run in a session that is made for it: `results` in total, the last one terminal. Resolves with its id. */
export async function storeRunOfNewSession(
  { databaseDirectory }: Home,
  { target }: Pick<Service, "target">,
  results: number,
): Promise<string> {
  using client = new GrpcClient(target);
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "bench" } });
  const options = { url: "", directory: databaseDirectory, poolSize: 1, onConnectionError: () => {} };
  const database = await openDatabase(options);
  try {
    return await storeRun(database.connections.db, { sessionId, results });
  } finally {
    await database.close();
  }
}

/** Stores the newest run of an existing session. Resolves with its id. */
async function storeRun(db: Db, { sessionId, results }: { sessionId: string; results: number }): Promise<string> {
  const session = await findSession(db, { client: benchOwner, name: sessionId });
  if (session === undefined) {
    throw new Error(`session ${sessionId} is missing`);
  }
  const runId = newUuid(Date.now());
  // In one transaction, because otherwise a replica would take it for a run that waits for an owner.
  await db.transaction().execute(async (trx) => {
    const run = { id: runId, client: benchOwner, session: session.id, driver: "llm-loop" };
    await insertRun(trx, { ...run, input: new Uint8Array(), timeoutMs: 60_000, owner: undefined });
    const chain = new LogChain(startOfChain(runId));
    for (let first = 1; first <= results; first += batchRows) {
      const count = Math.min(batchRows, results - first + 1);
      const rows = Array.from({ length: count }, (_, index) => makeRow(runId, first + index, results));
      await insertResults(trx, rows);
      chain.add(rows.map(({ sequence, payload }) => ({ sequence, bytes: payload })));
    }
    const terminal = makeRow(runId, results, results).payload;
    await finishRun(trx, {
      id: runId,
      status: "completed",
      turn: 1,
      sequence: results,
      terminal,
      logHash: chain.value,
      spent: { promptTokens: 0, completionTokens: 0, costMicroUsd: 0 },
      failure: undefined,
    });
  });
  return runId;
}

function makeRow(runId: string, sequence: number, last: number): ResultRow {
  const result = sequence === last ? endOfRun : deltaAt(sequence);
  const { bytes } = encodeResult(result, { runId, sequence, timeMs: Date.now() });
  return { runId, sequence, epoch: 1, payload: bytes };
}

const endOfRun: ResultInit = { payload: { case: "runCompleted", value: { turns: 1 } } };

function deltaAt(sequence: number): ResultInit {
  const chunk = { role: "assistant", content: `word ${sequence} of many `, msgSequence: 1 };
  return { payload: { case: "messageDelta", value: { chunk } } };
}
