// Works on one run that this replica owns: from loading it until it has ended, is parked, or is handed on.
//
// S1  Only the supervisor writes results of a run that has an owner.
// S2  After the run is lost the supervisor writes nothing and decides nothing.
// S3  A run ends with exactly one terminal result, also when its driver throws or hangs.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Clock, over } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Db } from "../../platform/database/database.ts";
import { retryOutages } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { RunSpan, RunSpanEnd, Traces } from "../../platform/telemetry/traces.ts";
import type { ResultLog } from "../log/log.ts";
import type { LogEntry, ResultInit } from "../log/result.ts";
import type { Wakeup } from "../log/wakeup.ts";
import type { RunWriter } from "../log/writer.ts";
import { createFindMemory } from "../memory/find.ts";
import type { WorkDirs } from "../sessions/work-dirs.ts";
import { parkForApprovals, parkRun, requeueRun } from "../storage/run.ts";
import type { StartedRun } from "../storage/run-start.ts";
import { insertTreeCheck, parkForChildren } from "../storage/run-tree.ts";
import { announceTree, readTree } from "./children.ts";
import { announceRestart, type DriveTarget, drive } from "./drive.ts";
import type { CompletedEnd, Driver, DriverEnd, FailedEnd, ParkedEnd, RunContext, StepEffects } from "./driver.ts";
import { applyEffects } from "./effects.ts";
import { type LoadedRun, loadRun } from "./load.ts";
import type { Stop, StopReason } from "./stop.ts";
import { announceEnd, cancelled, completeRun, endRun, endStatus, timedOut } from "./terminal.ts";

/** What the supervisor works with. */
export interface SuperviseDeps {
  readonly db: Db;
  readonly log: ResultLog;
  readonly wakeup: Wakeup;
  readonly clock: Clock;
  readonly events: Events;
  readonly traces: Traces;
  /** The maximum number of a session's past messages that are loaded. */
  readonly historyMessagesMax: number;
  readonly findDriver: (name: string) => Driver | undefined;
  /** Returns whether this replica's lease holds, as far as is known without asking the database. */
  readonly isLeaseHeld: () => boolean;
  /** Opens the work directories of sessions, and creates them when necessary. */
  readonly workDirs: WorkDirs;
}

/** One run that this replica works on. */
interface Task {
  readonly run: StartedRun;
  readonly loaded: LoadedRun;
  readonly writer: RunWriter;
  readonly target: DriveTarget;
  readonly span: RunSpan;
  readonly stop: Stop;
  /** When this replica began to work on it, on the monotonic clock. */
  readonly startedMs: number;
  readonly deps: SuperviseDeps;
}

/** Works on a run. Resolves when this replica is done with it. Never rejects. */
export async function supervise(run: StartedRun, stop: Stop, deps: SuperviseDeps): Promise<void> {
  const startedMs = deps.clock.monotonicMs();
  try {
    const loaded = await load(run, stop, deps);
    failpoint("run.loaded");
    const writer = openWriter(run, loaded, stop, deps);
    const { transcriptLength } = loaded;
    const coveredSequence = loaded.checkpoint?.sequence ?? 0;
    const target = { runId: run.id, session: run.session, transcriptLength, coveredSequence };
    const span = openSpan(run, loaded, deps);
    const task: Task = { run, loaded, writer, target, span, stop, startedMs, deps };
    // Ends the span if nothing else has: only the first end of a span counts.
    using _lost = { [Symbol.dispose]: () => span.end({ status: "lost" }) };
    const end = await withDeadline(run.time_left_ms, stop, deps.clock, () => work(task));
    await settle(end, task);
  } catch (error) {
    // A run that could not be settled keeps its owner in the database. The reaper handles it after its lease or its deadline.
    if (stop.reason !== "lost") {
      deps.events.runAbandoned({ runId: run.id, error });
    }
  }
}

async function load(run: StartedRun, stop: Stop, deps: SuperviseDeps): Promise<LoadedRun> {
  const { db, historyMessagesMax } = deps;
  return await throughOutages(() => loadRun(db, run, historyMessagesMax), stop.lost, stop, deps);
}

/** Repeats `read` until the database answers, the signal is aborted, or the run is handed on. */
async function throughOutages<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  stop: Stop,
  { clock, events }: SuperviseDeps,
): Promise<T> {
  return await retryOutages(read, {
    clock,
    signal,
    onOutage: (error) => {
      if (stop.reason === "handed-on") {
        throw error;
      }
      events.databaseTroubled({ part: "run", error });
    },
  });
}

function openWriter(run: StartedRun, loaded: LoadedRun, stop: Stop, deps: SuperviseDeps): RunWriter {
  if (run.owner === null) {
    throw new Error(`run ${run.id} has no owner`);
  }
  const writer = deps.log.open({
    runId: run.id,
    epoch: run.epoch,
    replicaId: run.owner,
    chain: loaded.chain,
    onLost: () => stop.request("lost"),
  });
  // Ends the retries of an absent database when the lease is given up.
  stop.lost.addEventListener("abort", () => writer.abandon(), { once: true });
  return writer;
}

async function withDeadline<T>(leftMs: number, stop: Stop, clock: Clock, job: () => Promise<T>): Promise<T> {
  if (leftMs <= 0) {
    // At once: a driver that begins could write results after the deadline.
    stop.request("timed-out");
    return await job();
  }
  const done = new AbortController();
  const deadline = clock.sleep(leftMs, done.signal).then(() => {
    if (!done.signal.aborted) {
      stop.request("timed-out");
    }
  });
  try {
    return await job();
  } finally {
    done.abort(over);
    await deadline;
  }
}

/** Runs the driver. A driver that throws has a defect; the client learns only that it failed. */
async function work({ run, loaded, writer, target, span, stop, deps }: Task): Promise<DriverEnd | undefined> {
  const { signal } = stop;
  const driver = deps.findDriver(run.driver);
  if (driver === undefined) {
    return failed("runner.unavailable", `this replica has no driver named ${run.driver}`);
  }
  try {
    // The output of a turn that another replica has lost.
    if (driver.recovery === "resume" && loaded.chain.count > target.coveredSequence) {
      // While its calls have no results, the turn of the checkpoint is not over: only their progress is void.
      const isOver = loaded.context.openToolCalls.length === 0;
      await announceRestart(writer, target, (loaded.checkpoint?.turn ?? 0) + (isOver ? 1 : 0));
    }
    const openWorkspace = () =>
      throughOutages(() => deps.workDirs.open(loaded.session, loaded.workDir), signal, stop, deps);
    const isHeld = (): boolean => stop.reason !== "lost" && deps.isLeaseHeld();
    const stopReason = (): StopReason | undefined => stop.reason;
    const readTreeOf: RunContext["readTree"] = (continued) =>
      throughOutages(() => readTree(deps.db, run, continued), signal, stop, deps);
    const begin = (tryAppend: RunContext["tryAppend"]) =>
      driver.run({
        ...loaded.context,
        ...{ openWorkspace, signal, stopReason, isHeld, span, tryAppend, readTree: readTreeOf },
        memoriesOf: (agent) => createFindMemory(agent, loaded.session),
      });
    return await drive({
      ...{ run: begin, writer, target, signal, stopGraceMs: driver.stopGraceMs, clock: deps.clock },
      onChildren: () => deps.wakeup.publish({ topic: "queue", key: "", value: 0 }),
    });
  } catch (error) {
    if (stop.reason !== undefined) {
      return undefined;
    }
    deps.events.driverFailed({ runId: run.id, driver: run.driver, error });
    return failed("runner.exception", "the runner failed unexpectedly");
  }
}

function openSpan(run: StartedRun, { context }: LoadedRun, { traces }: SuperviseDeps): RunSpan {
  const { agent, client, session } = context;
  return traces.startRun({
    runId: run.id,
    epoch: run.epoch,
    sessionId: session.name,
    client,
    agentName: agent.name,
    model: agent.model,
    traceParent: run.trace_parent ?? undefined,
  });
}

/** Ends, parks or hands on the run. A driver's own completion counts even after a stop; otherwise the stop decides. */
async function settle(driverEnd: DriverEnd | undefined, task: Task): Promise<void> {
  const { reason } = task.stop;
  if (reason === "lost") {
    return;
  }
  const end = driverEnd?.kind === "completed" || reason === undefined ? driverEnd : endOfStop(reason, driverEnd);
  if (end === undefined) {
    return await handOn(task);
  }
  if (end.kind === "parked") {
    return await park(end, task);
  }
  await finish(end, task);
}

/**
 * Returns the end of a stopped run: the stop gives the reason, the driver gives the usage. Returns undefined to hand the run
 * on.
 */
function endOfStop(reason: Exclude<StopReason, "lost">, driverEnd: DriverEnd | undefined): FailedEnd | undefined {
  const rest = driverEnd?.kind === "failed" ? leftOf(driverEnd) : {};
  switch (reason) {
    case "cancelled":
      return { ...rest, ...cancelled };
    case "timed-out":
      return { ...rest, ...timedOut };
    case "handed-on":
      return undefined;
    default:
      return reason satisfies never;
  }
}

/** Returns the fields of a driver's failure other than its error. */
function leftOf({ usage, runnerSequence, results, own, settled }: FailedEnd): Partial<FailedEnd> {
  return {
    ...(usage && { usage }),
    ...(runnerSequence && { runnerSequence }),
    ...(results && { results }),
    ...(own && { own }),
    ...(settled && { settled }),
  };
}

async function finish(end: CompletedEnd | FailedEnd, task: Task): Promise<void> {
  const { run, span, deps } = task;
  const entries = (end.kind === "completed" && (await completeAtOnce(end, task))) || (await endByStep(end, task));
  failpoint("terminal.committed");
  deps.log.announce(run.id, entries);
  announceEnd(deps.wakeup, run);
  failpoint("terminal.announced");
  end.settled?.();
  span.end(endOfSpan(end));
}

async function completeAtOnce(end: CompletedEnd, task: Task): Promise<readonly LogEntry[] | undefined> {
  const { run, target, writer, startedMs, deps } = task;
  // The end of a child run also asks for a look at its parent.
  if (end.own !== undefined || run.parent_run_id !== null) {
    return undefined;
  }
  const durationMs = run.age_ms + deps.clock.monotonicMs() - startedMs;
  const { transcriptLength } = target;
  const firstTextMs = firstTextOf(task);
  return await completeRun(deps.db, writer, { run, end, transcriptLength, durationMs, firstTextMs });
}

/** Returns the time from the start of the run to its first text; undefined when an earlier owner may have had it. */
function firstTextOf({ run, writer, startedMs }: Task): number | undefined {
  const { firstTextMs } = writer;
  return firstTextMs === undefined || run.epoch > 1 ? undefined : Math.round(firstTextMs - startedMs);
}

async function endByStep(end: CompletedEnd | FailedEnd, task: Task): Promise<readonly LogEntry[]> {
  const { target, writer, deps } = task;
  return await writer.transact(async (trx, locked, chain) => {
    await applyEffects(trx, target, effectsOf(end), { sequences: [], chain });
    return await endRun(trx, { run: locked, end, clock: deps.clock, chain, firstTextMs: firstTextOf(task) });
  });
}

function effectsOf(end: CompletedEnd | FailedEnd): StepEffects {
  const { own } = end;
  const transcript = end.kind === "completed" ? end.transcript : undefined;
  return { ...(transcript && { transcript }), ...(own && { own }) };
}

function endOfSpan(end: CompletedEnd | FailedEnd): RunSpanEnd {
  const { promptTokens, completionTokens } = end.usage ?? {};
  const usage = { promptTokens: asNumber(promptTokens), completionTokens: asNumber(completionTokens) };
  if (end.kind === "completed") {
    return { status: "completed", usage };
  }
  return { status: endStatus(end), code: end.code, usage };
}

function asNumber(count: bigint | undefined): number | undefined {
  return count === undefined ? undefined : Number(count);
}

async function park(end: ParkedEnd, { run, target, writer, span, deps }: Task): Promise<void> {
  const { reason, wakeInMs, waitsFor, checkpoint } = end;
  const wakeTime = wakeInMs === undefined ? {} : { wakeTime: timestampFromMs(deps.clock.nowMs() + wakeInMs) };
  const result: ResultInit = { payload: { case: "runWaiting", value: { reason, ...wakeTime } } };
  await writer.commit([result], async (trx, written) => {
    await applyEffects(trx, target, { checkpoint }, written);
    if (waitsFor === undefined) {
      await parkRun(trx, { id: run.id, reason, wakeInMs });
    } else {
      await (waitsFor === "children" ? parkForChildren : parkForApprovals)(trx, { id: run.id, reason });
      // Its deadline may be later now, and that of the runs above follows.
      if (run.parent_run_id !== null) {
        await insertTreeCheck(trx, run.parent_run_id);
      }
    }
    failpoint("park.written");
  });
  failpoint("park.committed");
  announceTree(deps.wakeup, run.parent_run_id);
  span.end({ status: "waiting" });
}

async function handOn({ run, writer, span, deps }: Task): Promise<void> {
  failpoint("hand-on.stopping");
  await writer.transact((trx) => requeueRun(trx, { id: run.id, takeover: false }));
  failpoint("hand-on.committed");
  deps.wakeup.publish({ topic: "queue", key: "", value: 0 });
  span.end({ status: "handed-on" });
}

function failed(code: string, error: string): FailedEnd {
  return { kind: "failed", code, error, retryable: false };
}
