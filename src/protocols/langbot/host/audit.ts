// The audit entry of a runner's call: who asked for what, and whether it was allowed. It contains no payloads.

import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { insertAuditEntry, type NewAuditEntry } from "../storage/audit-entry.ts";
import { type Action, traitsOf } from "./actions.ts";

/** The audit entry of one call, written before its work or after it. */
export interface Audit {
  close<T>(work: () => Promise<T>): Promise<T>;
  note(failure: { readonly error: unknown } | undefined): Promise<void>;
}

/** Opens the entry of an action. Actions that a cancellation ends write it now, all others when their outcome is known. */
export async function openAudit(db: Db, action: Action, entry: NewAuditEntry): Promise<Audit> {
  const isWritten = traitsOf(action).endsWithCancel === true;
  if (isWritten) {
    await insertAuditEntry(db, entry);
  }
  const note: Audit["note"] = async (failure) => {
    if (!isWritten) {
      await insertAuditEntry(db, failure === undefined ? entry : { ...entry, ...judge(failure.error) });
    }
  };
  return {
    note,
    close: async (work) => {
      const [outcome] = await Promise.allSettled([work()]);
      await note(outcome.status === "fulfilled" ? undefined : { error: outcome.reason });
      if (outcome.status === "rejected") {
        throw outcome.reason;
      }
      return outcome.value;
    },
  };
}

/** The maximum characters of a caller's text: an entry is a line for people. */
const entryCharsMax = 256;

/** The part of a call that the audit records. */
export interface AuditedCall {
  readonly action: Action;
  readonly runId: string;
  /** The resource that the call names. */
  readonly resource: string;
  readonly scope: string;
  /** The client and the runner of the run. Undefined when the run does not exist any more. */
  readonly owner: { readonly client: string; readonly runner_id: string } | undefined;
}

/** Returns the entry of an allowed call. */
export function newEntry({ action, runId, resource, scope, owner }: AuditedCall, nowMs: number): NewAuditEntry {
  return {
    id: newUuid(nowMs),
    client: owner?.client ?? "",
    run_id: runId,
    runner_id: owner?.runner_id ?? "",
    action,
    resource: shorten(resource),
    scope: shorten(scope),
    result: "allow",
    reason: "",
  };
}

/** Returns the outcome of a failed action. Some actions find out only during their work that they are not allowed. */
export function judge(error: unknown): Pick<NewAuditEntry, "result" | "reason"> {
  return error instanceof Fault && error.reason === reasons.GRANT_REFUSED.name
    ? { result: "deny", reason: wordsOf(error) }
    : { result: "allow", reason: error instanceof Fault ? error.reason : "INTERNAL" };
}

/** Returns the message of a refusal, which contains no payload. */
export function wordsOf(error: unknown): string {
  return error instanceof Fault ? shorten(error.message) : "INTERNAL";
}

/** Cuts the text, and removes characters that Postgres cannot store. */
function shorten(text: string): string {
  return text.slice(0, entryCharsMax).replaceAll("\0", "").toWellFormed();
}
