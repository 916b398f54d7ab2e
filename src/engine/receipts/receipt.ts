// The receipt of a run: its log and the work that it did, signed by the service. The log is read again and compared with the
// hash that was written with the terminal result. So no log is signed that was changed since.

import type { Clock } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { describeRunEnd, type RunEndStatus } from "../../platform/base/run-end.ts";
import type { Db } from "../../platform/database/database.ts";
import { pageBytesMax } from "../../platform/database/row-page.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { ChainGap } from "../hash-chain/chain.ts";
import { decodeResult } from "../log/result.ts";
import { assertResultsKept } from "../log/results-kept.ts";
import { isActive, type RunWithoutInput } from "../storage/run.ts";
import { readResultPage, readResults } from "../storage/run-result.ts";
import { signText } from "./jws.ts";
import { loadSigningKey } from "./receipt-keys.ts";
import { type LogSummary, printStatement, type Statement } from "./statement.ts";
import { summarizeLog } from "./summarize.ts";

/** What `makeReceipt` works with. */
export interface ReceiptDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "logDamaged">;
  /** The issuer that the receipt names. */
  readonly issuer: string;
}

/** A signed receipt. */
export interface Receipt {
  readonly jws: string;
  /** The statement as JSON. */
  readonly statement: string;
}

const pageRowsMax = 1_000;

/**
 * Returns the receipt of an ended run.
 * @throws Fault RUN_ACTIVE, RESULTS_EXPIRED, RECEIPT_UNAVAILABLE or LOG_DAMAGED when the service cannot sign for the log.
 */
export async function makeReceipt(
  deps: ReceiptDeps,
  run: RunWithoutInput,
  details: Pick<Statement, "job_id" | "region" | "job_spec_sha256"> = {},
): Promise<Receipt> {
  const { db, clock, issuer } = deps;
  if (isActive(run.status) || run.terminal === null) {
    throw new Fault("RUN_ACTIVE", "the run has not ended: ask for its receipt after its end");
  }
  const log = await summarize(deps, run);
  const { privateKey } = await loadSigningKey(db);
  const statement = printStatement({
    iss: issuer,
    run_id: run.id,
    ...details,
    ...log,
    ...describeEnd(run),
    issued_at: new Date(clock.nowMs()).toISOString(),
  });
  return { jws: signText(statement, privateKey), statement };
}

async function summarize(deps: ReceiptDeps, run: RunWithoutInput): Promise<LogSummary> {
  await assertResultsKept(deps.db, run.id);
  if (run.log_hash === null) {
    throw unavailable("has no log hash (it ended under an earlier version of the service, or its log was damaged)");
  }
  const log = await readSummary(deps.db, run.id);
  if (log?.last_hash === Buffer.from(run.log_hash).toString("hex")) {
    return log;
  }
  if (await isPurged(deps.db, run.id)) {
    throw unavailable("was purged, and its original log can no longer be proved");
  }
  deps.events.logDamaged({ runId: run.id });
  throw new Fault("LOG_DAMAGED", `the stored log of run ${run.id} differs from the one that was written`);
}

/** Returns undefined for a log with missing entries. */
async function readSummary(db: Db, runId: string): Promise<LogSummary | undefined> {
  try {
    return await summarizeLog(runId, readPages(db, runId));
  } catch (error) {
    if (error instanceof ChainGap) {
      return undefined;
    }
    throw error;
  }
}

async function* readPages(db: Db, runId: string) {
  for (let after = 0; ; ) {
    const rows = await readResultPage(db, { runId, after, rowsMax: pageRowsMax, bytesMax: pageBytesMax });
    const last = rows.at(-1);
    if (last === undefined) {
      return;
    }
    yield rows.map(({ sequence, payload }) => ({ sequence, bytes: payload }));
    after = last.sequence;
  }
}

async function isPurged(db: Db, runId: string): Promise<boolean> {
  const [first] = await readResults(db, { runId, after: 0, limit: 1 });
  return first !== undefined && decodeResult(first.payload).purgedSha256 !== "";
}

function describeEnd({ terminal, status, start_time, create_time, end_time }: RunWithoutInput) {
  const { code } = describeRunEnd(decodeResult(terminal ?? new Uint8Array()));
  return {
    status: status as RunEndStatus,
    code,
    started_at: (start_time ?? create_time).toISOString(),
    ended_at: (end_time ?? create_time).toISOString(),
  };
}

function unavailable(why: string): Fault {
  return new Fault("RECEIPT_UNAVAILABLE", `there is no receipt: the run ${why}`);
}
