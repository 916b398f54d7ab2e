// The access check of the host API. Every action of a runner passes it.
//
// A1  The order of checks: token (in the server), active run, run id of the message, attempt, deadline, rate, size, grant. The
//     action itself checks its arguments last.
// A2  An unknown run, a run other than the token's, a stale attempt and an ended run give the same answer, after the same
//     query.
// A3  Each call writes one audit entry, without payloads. Calls to models and tools write it before they work. Writes write it
//     in their transaction. All other actions write it when their outcome is known.
// A4  Writes lock the run, so that nothing is written after its end.

import type { HandlerContext } from "@connectrpc/connect";
import { isActive } from "../../../engine/storage/run.ts";
import { type RunAttempt, requireRunAttempt } from "../../../platform/auth/caller.ts";
import type { RateLimit } from "../../../platform/auth/rate-limit.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import type { Grant } from "../runners/grant.ts";
import type { RunScope } from "../runners/scope.ts";
import { insertAuditEntry, type NewAuditEntry } from "../storage/audit-entry.ts";
import { findRemoteRunAccess, holdRemoteRunAccess, type RemoteRunAccess } from "../storage/remote-run.ts";
import { ActionTime, deadlineExceeded } from "./action-time.ts";
import { type Action, traitsOf } from "./actions.ts";
import { judge, newEntry, openAudit, wordsOf } from "./audit.ts";
import { assertGranted, type Needs, resourceOf } from "./needs.ts";

/** Dependencies of every action of the host API. */
export interface HostDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** The rate limit of each run. */
  readonly hostRate: RateLimit;
}

/** The part of a handler's context that the host API uses. */
export type HostContext = Pick<HandlerContext, "values" | "signal">;

/** A call to the host API, as the access check and the audit need it. */
export interface HostCall {
  /** The run id in the message. */
  readonly runId: string;
  readonly action: Action;
  /** The grant that the call needs. Undefined when every run may make it. */
  readonly needs?: Needs | undefined;
  /** The resource in the audit entry. The default is the resource of `needs`. */
  readonly resource?: string | undefined;
  /** The scope in the audit entry. */
  readonly scope?: string | undefined;
  /** The size of a limited field, with its maximum. */
  readonly size?: { readonly field: string; readonly bytes: number; readonly bytesMax: number } | undefined;
}

/** A run whose call passed the access check. */
export interface HostRun extends RunAttempt {
  readonly scope: RunScope;
  readonly grant: Grant;
  /** True when a client has requested the cancellation of the run. */
  readonly isCancelling: boolean;
  /** The time until the deadline of the run, measured at the access check. */
  readonly timeLeftMs: number;
  /** Aborts when the time of the action or of the run is over, or when the caller has left. */
  readonly signal: AbortSignal;
}

/** Does the work of a call that passes the access check, within the timeout of the action and the deadline of the run. */
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

/** Like `withHostRun`, for writes: one transaction with the audit entry, under the lock of an active run. */
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

/** Locks the run until the end of the transaction. Throws the faults of the access check when the run is not usable. */
export async function holdHostRun(trx: Transaction, run: RunAttempt): Promise<{ readonly isCancelling: boolean }> {
  const access = assertUsable(await holdRemoteRunAccess(trx, run.runId), run);
  return { isCancelling: access.cancel_request_time !== null };
}

/** Like `withHostRun`, for actions that answer with a stream. */
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
    // Not awaited: it may hang after the timeout.
    messages.return(undefined).catch(() => {});
    await audit.note(failure);
  }
}

interface Admitted {
  readonly run: Omit<HostRun, "signal">;
  /** The audit entry of a call that succeeds. */
  readonly entry: NewAuditEntry;
}

async function admit(deps: HostDeps, { values }: HostContext, call: HostCall): Promise<Admitted> {
  const claim = requireRunAttempt(values);
  const access = await findRemoteRunAccess(deps.db, claim.runId);
  const { action, needs, resource = resourceOf(needs), scope = "" } = call;
  const { runId } = claim;
  const entry = newEntry({ action, runId, resource, scope, owner: access }, deps.clock.nowMs());
  try {
    return { run: assertAllowed(deps, claim, call, access), entry };
  } catch (error) {
    await insertAuditEntry(deps.db, { ...entry, result: "deny", reason: wordsOf(error) });
    throw error;
  }
}

function assertAllowed(
  { hostRate }: HostDeps,
  claim: RunAttempt,
  { runId, action, needs, size }: HostCall,
  access: RemoteRunAccess | undefined,
): Omit<HostRun, "signal"> {
  const usable = assertUsable(access, claim, runId);
  hostRate.take(claim.runId);
  if (size !== undefined && size.bytes > size.bytesMax) {
    throw new Fault("PAYLOAD_TOO_LARGE", `${size.field} has ${size.bytes} bytes: maximum ${size.bytesMax}`);
  }
  if (traitsOf(action).endsWithCancel === true) {
    assertNotCancelled(usable);
  }
  const frozen = { grant: usable.granted as Grant, scope: usable.scope as RunScope };
  if (needs !== undefined) {
    assertGranted(frozen, needs);
  }
  const isCancelling = usable.cancel_request_time !== null;
  return { ...claim, ...frozen, isCancelling, timeLeftMs: usable.time_left_ms };
}

/** `claimedId` is the run id in the message. Omitted when it has been checked before. */
function assertUsable(
  access: RemoteRunAccess | undefined,
  claim: RunAttempt,
  claimedId: string = claim.runId,
): RemoteRunAccess {
  if (access === undefined || !isActive(access.status)) {
    throw notActive();
  }
  if (claimedId === "") {
    throw invalidField("run_id", "is missing: give the id of the run");
  }
  if (claimedId !== claim.runId || access.attempt !== claim.attempt) {
    throw notActive();
  }
  if (access.time_left_ms <= 0) {
    throw deadlineExceeded();
  }
  return access;
}

/** Returns the fault for a call that must not begin because its run is being cancelled. */
export function beingCancelled(): Fault {
  return new Fault(reasons.GRANT_REFUSED, "run is being cancelled");
}

function notActive(): Fault {
  return new Fault(reasons.GRANT_REFUSED, "run is not active");
}

function openTime(deps: HostDeps, context: HostContext, call: HostCall, { run }: Admitted): ActionTime {
  const { timeoutMs, endsWithCancel = false } = traitsOf(call.action);
  const time = new ActionTime({ clock: deps.clock, timeoutMs, timeLeftMs: run.timeLeftMs, caller: context.signal });
  if (endsWithCancel) {
    void endWithRun(deps, run, time);
  }
  return time;
}

/** How often a long action checks whether its run has ended or is being cancelled. */
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
      // A short outage of the database says nothing about the run.
    }
  }
}

function assertNotCancelled({ cancel_request_time }: RemoteRunAccess): void {
  if (cancel_request_time !== null) {
    throw beingCancelled();
  }
}
