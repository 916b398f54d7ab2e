// The gate of everything that a runner asks of its host. No action is reached but through it.
//
// A1  The order of checks: token (the server's), run active, its id in the message, attempt, deadline, rate, size, grant.
//     Arguments come last, in the action.
// A2  An unknown run, another one's, a stale attempt and a run that has ended get one answer, after the same question to the
//     database.
// A3  Each call leaves one entry in the audit. Of what works on (models, tools) it is written before; of what writes, with
//     what is written; of everything else, when it is known how it went. Nothing of what was sent or answered is in it.
// A4  What writes locks the run while it does, so that nothing is written behind its end.

import type { HandlerContext } from "@connectrpc/connect";
import { isActive } from "../../../engine/storage/run.ts";
import { type RunAttempt, requireRunAttempt } from "../../../platform/auth/caller.ts";
import type { RateLimit } from "../../../platform/auth/rate-limit.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { Grant } from "../runners/grant.ts";
import type { RunScope } from "../runners/scope.ts";
import { insertAuditEntry, type NewAuditEntry } from "../storage/audit-entry.ts";
import { findRemoteRunAccess, holdRemoteRunAccess, type RemoteRunAccess } from "../storage/remote-run.ts";
import { ActionTime, deadlineExceeded } from "./action-time.ts";
import { type Action, traitsOf } from "./actions.ts";
import { judge, newEntry, openAudit, wordsOf } from "./audit.ts";
import { assertGranted, type Needs, resourceOf } from "./needs.ts";

export interface HostDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** By run. */
  readonly hostRate: RateLimit;
}

/** What of a call's context the host looks at. */
export type HostContext = Pick<HandlerContext, "values" | "signal">;

export interface HostCall {
  /** Of the message. */
  readonly runId: string;
  readonly action: Action;
  /** Undefined when every run may. */
  readonly needs?: Needs | undefined;
  /** For the audit: of what it is asked, where `needs` does not say. */
  readonly resource?: string | undefined;
  /** For the audit. */
  readonly scope?: string | undefined;
  /** Bytes of what may be too large. */
  readonly size?: { readonly field: string; readonly bytes: number; readonly bytesMax: number } | undefined;
}

/** A run whose runner may do what it asks for. */
export interface HostRun extends RunAttempt {
  readonly scope: RunScope;
  readonly grant: Grant;
  /** Somebody wants it cancelled. */
  readonly isCancelling: boolean;
  /** Until its deadline, when it was asked. */
  readonly timeLeftMs: number;
  /** Aborts when the time of the action or of the run is over, or nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/** Does what a runner asks for, if it may: within the time of the action and of the run. */
export async function withHostRun<T>(
  deps: HostDeps,
  context: HostContext,
  call: HostCall,
  work: (run: HostRun) => Promise<T>,
): Promise<T> {
  const admitted = await admit(deps, context, call);
  using time = openTime(deps, context, call, admitted);
  const audit = await openAudit(deps.db, call.action, admitted.entry);
  return await audit.close(() => time.bound(() => work({ ...admitted.run, signal: time.signal })));
}

/** The same for what writes: in one transaction, with the audit's entry, under the lock of a run that goes on. */
export async function withHostWrite<T>(
  deps: HostDeps,
  context: HostContext,
  call: HostCall,
  work: (run: HostRun, trx: Transaction) => Promise<T>,
): Promise<T> {
  const { run, entry } = await admit(deps, context, call);
  try {
    return await deps.db.transaction().execute(async (trx) => {
      await holdHostRun(trx, run);
      const answer = await work({ ...run, signal: context.signal }, trx);
      await insertAuditEntry(trx, entry);
      return answer;
    });
  } catch (error) {
    await insertAuditEntry(deps.db, { ...entry, ...judge(error) });
    throw error;
  }
}

/** The run goes on, and does so until the end of the transaction. Throws what the gate throws when it does not. */
export async function holdHostRun(trx: Transaction, run: RunAttempt): Promise<{ readonly isCancelling: boolean }> {
  const access = assertUsable(await holdRemoteRunAccess(trx, run.runId), run);
  return { isCancelling: access.cancel_request_time !== null };
}

/** The same for what answers with a stream. */
export async function* streamHostRun<T>(
  deps: HostDeps,
  context: HostContext,
  call: HostCall,
  work: (run: HostRun) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const admitted = await admit(deps, context, call);
  using time = openTime(deps, context, call, admitted);
  const audit = await openAudit(deps.db, call.action, admitted.entry);
  const messages = work({ ...admitted.run, signal: time.signal });
  let failure: { readonly error: unknown } | undefined;
  try {
    for (;;) {
      const next = await time.bound(() => messages.next());
      if (next.done === true) {
        break;
      }
      yield next.value;
    }
  } catch (error) {
    failure = { error };
    throw error;
  } finally {
    // Not waited for: it may hang where its time was over.
    messages.return(undefined).catch(() => {});
    await audit.note(failure);
  }
}

interface Admitted {
  readonly run: Omit<HostRun, "signal">;
  /** What the audit says if nothing goes wrong. */
  readonly entry: NewAuditEntry;
}

async function admit(deps: HostDeps, { values }: HostContext, call: HostCall): Promise<Admitted> {
  const told = requireRunAttempt(values);
  const access = await findRemoteRunAccess(deps.db, told.runId);
  const { action, needs, resource = resourceOf(needs), scope = "" } = call;
  const { runId } = told;
  const entry = newEntry({ action, runId, resource, scope, owner: access }, deps.clock.nowMs());
  try {
    return { run: assertAllowed(deps, told, call, access), entry };
  } catch (error) {
    await insertAuditEntry(deps.db, { ...entry, result: "deny", reason: wordsOf(error) });
    throw error;
  }
}

function assertAllowed(
  { hostRate }: HostDeps,
  told: RunAttempt,
  { runId, action, needs, size }: HostCall,
  access: RemoteRunAccess | undefined,
): Omit<HostRun, "signal"> {
  const usable = assertUsable(access, told, runId);
  hostRate.take(told.runId);
  if (size !== undefined && size.bytes > size.bytesMax) {
    throw new Fault("PAYLOAD_TOO_LARGE", `${size.field} has ${size.bytes} bytes, and ${size.bytesMax} is the most`);
  }
  if (traitsOf(action).endsWithCancel === true) {
    assertNotCancelled(usable);
  }
  const frozen = { grant: usable.granted as Grant, scope: usable.scope as RunScope };
  if (needs !== undefined) {
    assertGranted(frozen, needs);
  }
  const isCancelling = usable.cancel_request_time !== null;
  return { ...told, ...frozen, isCancelling, timeLeftMs: usable.time_left_ms };
}

/** `claimedId` is what the message says of the run; undefined where that has been looked at before. */
function assertUsable(
  access: RemoteRunAccess | undefined,
  told: RunAttempt,
  claimedId: string = told.runId,
): RemoteRunAccess {
  if (access === undefined || !isActive(access.status)) {
    throw notActive();
  }
  if (claimedId === "") {
    throw invalidField("run_id", "every call names its run");
  }
  if (claimedId !== told.runId || access.attempt !== told.attempt) {
    throw notActive();
  }
  if (access.time_left_ms <= 0) {
    throw deadlineExceeded();
  }
  return access;
}

export function beingCancelled(): Fault {
  return new Fault("GRANT_REFUSED", "run is being cancelled");
}

function notActive(): Fault {
  return new Fault("GRANT_REFUSED", "run is not active");
}

function openTime(deps: HostDeps, context: HostContext, call: HostCall, { run }: Admitted): ActionTime {
  const { timeoutMs, endsWithCancel = false } = traitsOf(call.action);
  const time = new ActionTime({ clock: deps.clock, timeoutMs, timeLeftMs: run.timeLeftMs, caller: context.signal });
  if (endsWithCancel) {
    void endWithRun(deps, run, time);
  }
  return time;
}

/** How often what works on is compared with its run, which may end, or shall be cancelled, before it does. */
const watchMs = 1_000;

async function endWithRun({ db, clock }: HostDeps, run: RunAttempt, time: ActionTime): Promise<void> {
  for (;;) {
    await clock.sleep(watchMs, time.disposed);
    if (time.disposed.aborted) {
      return;
    }
    try {
      assertNotCancelled(assertUsable(await findRemoteRunAccess(db, run.runId), run));
    } catch (error) {
      if (error instanceof Fault) {
        time.end(error);
        return;
      }
      // A database that is away for a moment says nothing about the run.
    }
  }
}

function assertNotCancelled({ cancel_request_time }: RemoteRunAccess): void {
  if (cancel_request_time !== null) {
    throw beingCancelled();
  }
}
