// Ends runs under the lock of their row. The supervisor, the cancel of a run without an owner, and the reaper do so. The first
// end wins, and nothing is written after it. Most runs just complete: a faster way writes the same rows.

import { toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { type Db, storableText, type Transaction } from "../../platform/database/database.ts";
import { isOutage } from "../../platform/database/errors.ts";
import { inSavepoint } from "../../platform/database/savepoint.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { ChainGap, type LogChain } from "../hash-chain/chain.ts";
import { encodeResult, type LogEntry, type ResultInit } from "../log/result.ts";
import { readStoredChain } from "../log/stored-chain.ts";
import type { Wakeup } from "../log/wakeup.ts";
import type { RunWriter } from "../log/writer.ts";
import { insertCallback } from "../storage/callback.ts";
import { insertPushes } from "../storage/push-config.ts";
import { finishRun, isActive, type RunRow, type Spent } from "../storage/run.ts";
import { completeOwnRun } from "../storage/run-end.ts";
import { insertResults, lastSequence } from "../storage/run-result.ts";
import type { StartedRun } from "../storage/run-start.ts";
import { insertCheckOfChildren, insertTreeCheck } from "../storage/run-tree.ts";
import { insertEndedRun } from "../storage/usage-sum.ts";
import { announceCallback } from "./callback.ts";
import { announceTree } from "./children.ts";
import { closeCalls } from "./close-calls.ts";
import type { CompletedEnd, FailedEnd } from "./driver.ts";
import { readPartialOutput } from "./partial-output.ts";

/** The end of a cancelled run. */
export const cancelled: FailedEnd = {
  kind: "failed",
  code: "cancelled",
  error: "context canceled",
  retryable: false,
  isAskedFor: true,
};

/** The end of a run past its deadline. */
export const timedOut: FailedEnd = {
  kind: "failed",
  code: "runner.timeout",
  error: "context deadline exceeded",
  retryable: true,
};

const unreadable: FailedEnd = {
  kind: "failed",
  code: "host.log_damaged",
  error: "the stored state of the run cannot be read",
  retryable: false,
};

/**
 * Completes a run that its supervisor owns, by one statement without a lock first. Returns undefined when the statement wrote
 * nothing or its outcome is unknown; the caller then takes the slow path, `endRun`.
 */
export async function completeRun(
  db: Db,
  writer: RunWriter,
  args: {
    run: StartedRun;
    end: CompletedEnd;
    transcriptLength: number;
    durationMs: number;
    firstTextMs?: number | undefined;
  },
): Promise<readonly LogEntry[] | undefined> {
  const { run, end, transcriptLength, durationMs, firstTextMs } = args;
  if (run.owner === null) {
    throw new Error(`run ${run.id} has no owner`);
  }
  const { id, epoch, owner: replicaId } = run;
  const isCalledBack = run.callback_url !== null;
  const messages = (end.transcript ?? []).map((message) => toBinary(MessageSchema, message));
  const transcript = { position: transcriptLength, messages };
  return await writer.tryLast(
    [...(end.results ?? []), completedResult(end, end.turns, durationMs)],
    (results, logHash) => {
      failpoint("terminal.writing");
      const of = { id, replicaId, epoch, turn: end.turns };
      return completeOwnRun(db, {
        ...of,
        isCalledBack,
        results,
        logHash,
        spent: spentOf(end),
        firstTextMs,
        transcript,
      });
    },
  );
}

/**
 * Ends a run whose row is locked. An owner passes the chain of the log; otherwise it is read. Returns the entries to announce
 * after the commit, which are empty when the run had ended already.
 */
export async function endRun(
  trx: Transaction,
  args: {
    run: RunRow;
    end: CompletedEnd | FailedEnd;
    clock: Clock;
    chain?: LogChain;
    firstTextMs?: number | undefined;
  },
): Promise<LogEntry[]> {
  const { run, end, firstTextMs } = args;
  if (!isActive(run.status)) {
    return [];
  }
  const turns = Math.max(end.turns ?? 0, run.turn);
  const chain = args.chain ?? (await findStoredChain(trx, run.id));
  const first = 1 + (chain?.count ?? (await lastSequence(trx, run.id)));
  const timeMs = args.clock.nowMs();
  const insert = async (results: readonly ResultInit[], from: number): Promise<LogEntry[]> => {
    const made = results.map((init, index) => encodeResult(init, { runId: run.id, sequence: from + index, timeMs }));
    const rows = made.map(({ sequence, bytes }) => ({ runId: run.id, sequence, epoch: run.epoch, payload: bytes }));
    await insertResults(trx, rows);
    return made;
  };
  const closed = await closeCalls(trx, { runId: run.id, last: first - 1, ending: end.results ?? [] });
  // Written first: the terminal result contains the output until then.
  const before = await insert([...closed, ...(end.results ?? [])], first);
  const terminal = await insert([await terminalResult(trx, run, end, turns)], first + before.length);
  const entries = [...before, ...terminal];
  await finish(trx, run, { end, turn: turns, entries, logHash: chain?.with(entries).value, firstTextMs });
  failpoint("terminal.written");
  return entries;
}

/** Returns the result of `work` for a locked run. When the rows of the run cannot be read, fails it without them. */
export async function orEndUnreadable(
  trx: Transaction,
  { run, clock, events }: { run: RunRow; clock: Clock; events: Pick<Events, "runUnreadable"> },
  work: () => Promise<readonly LogEntry[]>,
): Promise<readonly LogEntry[]> {
  try {
    return await inSavepoint(trx, work);
  } catch (error) {
    if (isOutage(error)) {
      throw error;
    }
    events.runUnreadable({ runId: run.id, error });
    return await endUnreadableRun(trx, { run, clock });
  }
}

/**
 * Fails a locked run whose rows cannot be read: without its output, and without results for its open tool calls. Returns the
 * entries to announce after the commit.
 */
async function endUnreadableRun(trx: Transaction, args: { run: RunRow; clock: Clock }): Promise<LogEntry[]> {
  const { run, clock } = args;
  const { code, error, retryable } = unreadable;
  const value = { code, error, retryable, turns: run.turn, durationMs: wholeMs(run.age_ms) };
  const place = { runId: run.id, sequence: 1 + (await lastSequence(trx, run.id)), timeMs: clock.nowMs() };
  const terminal = encodeResult({ payload: { case: "runFailed", value } }, place);
  const { sequence, bytes: payload } = terminal;
  await insertResults(trx, [{ runId: run.id, sequence, epoch: run.epoch, payload }]);
  await finish(trx, run, {
    end: unreadable,
    turn: run.turn,
    entries: [terminal],
    logHash: undefined,
    firstTextMs: undefined,
  });
  return [terminal];
}

/** Reads the chain. Returns undefined when entries are missing from the log: the run then ends without a log hash. */
async function findStoredChain(trx: Transaction, runId: string): Promise<LogChain | undefined> {
  try {
    return await readStoredChain(trx, runId);
  } catch (error) {
    if (error instanceof ChainGap) {
      return undefined;
    }
    throw error;
  }
}

interface EndOfLog {
  readonly end: CompletedEnd | FailedEnd;
  readonly turn: number;
  readonly entries: readonly LogEntry[];
  /** Undefined when entries are missing from the log. */
  readonly logHash: Uint8Array | undefined;
  /** Undefined when it is unknown. */
  readonly firstTextMs: number | undefined;
}

async function finish(
  trx: Transaction,
  run: RunRow,
  { end, turn, entries, logHash, firstTextMs }: EndOfLog,
): Promise<void> {
  const last = entries.at(-1);
  if (last === undefined) {
    throw new Error("a run ends with a terminal result");
  }
  const { id, client, session, callback_url: baseUrl } = run;
  const { sequence, bytes: terminal } = last;
  const status = endStatus(end);
  const failure = end.kind === "failed" ? failureOf(end) : undefined;
  await finishRun(trx, { id, status, turn, sequence, terminal, logHash, spent: spentOf(end), failure });
  await insertEndedRun(trx, { runId: id, firstTextMs });
  // The callbacks tell of the session, which a pending run has not changed.
  if (baseUrl !== null && run.status !== "pending") {
    await insertCallback(trx, { client, session, runId: id, sequence, status, baseUrl });
  }
  if (run.has_pushes) {
    await insertPushes(trx, { runId: id, sequence, status });
  }
  if (run.parent_run_id !== null) {
    await insertTreeCheck(trx, run.parent_run_id);
  }
  await insertCheckOfChildren(trx, id);
}

/** Announces the end of a run after its commit: its status callback is due, and the runs above and below it get a look. */
export function announceEnd(
  wakeup: Wakeup,
  run: Pick<RunRow, "callback_url" | "parent_run_id"> & Partial<Pick<RunRow, "has_pushes">>,
): void {
  announceCallback(wakeup, run.callback_url ?? (run.has_pushes === true ? "" : null));
  announceTree(wakeup, run.parent_run_id);
}

/** Returns a failure as lists search it. */
function failureOf({ code, error }: FailedEnd): string {
  return storableText(`${code}\n${error}`.slice(0, failureCharsMax));
}

/** Long enough for the part of a message that tells failures apart, and short enough to search many. */
const failureCharsMax = 4_096;

/** Returns what a run used. A runner may report any figures. */
function spentOf({ usage }: CompletedEnd | FailedEnd): Spent {
  const bounded = (figure: bigint | undefined) => Math.min(Math.max(Number(figure ?? 0n), 0), Number.MAX_SAFE_INTEGER);
  return {
    promptTokens: bounded(usage?.promptTokens),
    completionTokens: bounded(usage?.completionTokens),
    costMicroUsd: bounded(usage?.costMicroUsd),
  };
}

/** Returns the state of a run that ends so. A runner that reports `cancelled` without a request to cancel has failed. */
export function endStatus(end: CompletedEnd | FailedEnd): "completed" | "failed" | "cancelled" {
  if (end.kind === "completed") {
    return "completed";
  }
  return end.isAskedFor === true ? "cancelled" : "failed";
}

async function terminalResult(
  trx: Transaction,
  run: RunRow,
  end: CompletedEnd | FailedEnd,
  turns: number,
): Promise<ResultInit> {
  if (end.kind === "completed") {
    return completedResult(end, turns, run.age_ms);
  }
  const { code, error, retryable, modelError } = end;
  const output = await readPartialOutput(trx, run.id);
  const durationMs = wholeMs(run.age_ms);
  const value = { code, error, retryable, output, turns, durationMs, ...(modelError && { modelError }) };
  return { ...extrasOf(end), payload: { case: "runFailed", value } };
}

/** Returns the terminal result of a completed run. */
export function completedResult(end: CompletedEnd, turns: number, durationMs: number): ResultInit {
  const { finishReason, stopSequence, message, output = "", pendingToolCalls = [] } = end;
  const value = {
    finishReason,
    ...(message && { message }),
    output,
    turns,
    durationMs: wholeMs(durationMs),
    pendingToolCalls: [...pendingToolCalls],
    ...(stopSequence !== undefined && { stopSequence }),
  };
  return { ...extrasOf(end), payload: { case: "runCompleted", value } };
}

function extrasOf({ usage, runnerSequence }: CompletedEnd | FailedEnd): Pick<ResultInit, "usage" | "runnerSequence"> {
  return { ...(usage && { usage }), ...(runnerSequence !== undefined && { runnerSequence }) };
}

function wholeMs(durationMs: number): bigint {
  return BigInt(Math.max(0, Math.round(durationMs)));
}
