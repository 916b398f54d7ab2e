// Starts a run: admission, the run row, the session's latest run and the client's idempotency key in one transaction. The run
// is durable on return, and this replica works on it if it has a free slot.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { whenEnded } from "../../platform/database/in-transaction.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { countUnfinishedRuns } from "../storage/pending-run.ts";
import { insertPendingRun, insertRun, type NewRun, type StartedRun } from "../storage/run-start.ts";
import { appendInput, keepMessagesOf } from "../storage/transcript.ts";
import { admit, freelyBelow, type RunLimits } from "./admission.ts";
import { announceCallback } from "./callback.ts";
import type { Dispatcher, Reservation } from "./dispatch.ts";

/** What a start works with. */
export interface StartDeps extends RunLimits {
  readonly db: Db;
  readonly clock: Clock;
  readonly wakeup: Wakeup;
  readonly dispatcher: Dispatcher;
  readonly timeoutMs: number;
}

/** A run to start. */
export interface StartRequest extends Omit<NewRun, "id" | "inputLength" | "runnerId" | "unclaimedForMs" | "timeoutMs"> {
  /** Messages of the input before `input`. A start with any is part of a transaction that has locked the session. */
  readonly inputBefore?: readonly Uint8Array[];
  /** The name of the agent, by which its client finds the run. */
  readonly agentName: string;
  /** Whether the run waits for the runs before it in its session. Such a start is part of a transaction that has locked it. */
  readonly queueIfBusy?: boolean | undefined;
  /** Whether the earlier messages leave the session. Such a start is part of a transaction that has locked it. */
  readonly replacesHistory?: boolean | undefined;
  /** The maximum duration of the run; unset means the service's `timeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Starts a run by one statement, which is taken when nothing else has to become durable with it: concurrent starts share the
 * statement and its commit. Returns the run id. Returns undefined when it started nothing; the caller then takes `startRun`,
 * which finds out why.
 */
export async function startAlone(deps: StartDeps, request: StartRequest): Promise<string | undefined> {
  const activeMax = freelyBelow(deps.concurrentRunsMax);
  const clientActiveMax = freelyBelow(deps.clientRunsMax);
  if ((activeMax ?? 1) <= 0 || (clientActiveMax ?? 1) <= 0) {
    return undefined;
  }
  using slot = deps.dispatcher.reserve();
  const started = await insertRun(deps.db, {
    ...newRun(deps, request, slot),
    activeMax,
    clientActiveMax,
    freeWhileWaiting: deps.freeWhileWaiting,
  });
  announceStart(deps, started, slot);
  return started?.id;
}

/**
 * Starts a run in a transaction of `inTransaction`, whose commit announces it. Returns the run id. The caller has locked the
 * session where the request says so.
 * @throws Fault CONCURRENCY_EXHAUSTED, and SESSION_BUSY when the session has an unfinished run.
 */
export async function startRun(trx: Transaction, deps: StartDeps, request: StartRequest): Promise<string> {
  const { client, session, inputBefore = [] } = request;
  if (request.queueIfBusy === true && (await mustWait(trx, session))) {
    const pending = newRun(deps, request, undefined);
    await insertPendingRun(trx, pending);
    return pending.id;
  }
  const reserved = deps.dispatcher.reserve();
  let started: StartedRun | undefined;
  whenEnded(trx, (isCommitted) => {
    using slot = reserved;
    if (isCommitted) {
      announceStart(deps, started, slot);
    }
  });
  await admit(trx, deps, client);
  const asked = newRun(deps, request, reserved);
  if (inputBefore.length > 0) {
    // Only the active run of a session writes to the transcript.
    if ((await countUnfinishedRuns(trx, session)) > 0) {
      throw busy();
    }
    await appendInput(trx, { session, runId: asked.id, messages: inputBefore });
  }
  started = await insertRun(trx, asked);
  if (started === undefined) {
    throw busy();
  }
  if (request.replacesHistory === true) {
    await keepMessagesOf(trx, { session, runId: started.id });
  }
  failpoint("start.written");
  return started.id;
}

/**
 * Returns whether a new run of a session has to wait for another one.
 * @throws Fault CONCURRENCY_EXHAUSTED when as many wait as may.
 */
async function mustWait(trx: Transaction, session: string): Promise<boolean> {
  const unfinished = await countUnfinishedRuns(trx, session);
  if (unfinished > pendingRunsMax) {
    const message = `max pending messages of a session (${pendingRunsMax}) reached`;
    throw new Fault("CONCURRENCY_EXHAUSTED", message, { retryAfterMs: 1_000 });
  }
  return unfinished > 0;
}

/** More than people type ahead, and few enough to cancel in one transaction. */
const pendingRunsMax = 100;

function busy(): Fault {
  return new Fault("SESSION_BUSY", "session already running");
}

function newRun({ clock, timeoutMs }: StartDeps, request: StartRequest, slot: Reservation | undefined) {
  return {
    ...request,
    id: newUuid(clock.nowMs()),
    inputLength: 1 + (request.inputBefore?.length ?? 0),
    timeoutMs: request.timeoutMs ?? timeoutMs,
    owner: request.startMs === undefined ? slot?.replicaId : undefined,
  };
}

/** Announces a start after the commit, which may have started nothing. */
function announceStart(deps: StartDeps, run: StartedRun | undefined, slot: Reservation | undefined): void {
  failpoint("start.committed");
  if (run !== undefined) {
    deps.wakeup.publish({ topic: "session", key: run.session, value: 0 });
    announceCallback(deps.wakeup, run.callback_url);
    if (run.owner === null) {
      deps.wakeup.publish({ topic: "queue", key: "", value: 0 });
    } else {
      slot?.fill(run);
      failpoint("start.filled");
    }
  }
  failpoint("start.answering");
}
