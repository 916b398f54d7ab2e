// The audit's one entry of a call of a runner: who asked for what, and whether it was allowed. Nothing of what was sent or answered
// is in it.

import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db } from "../../../platform/database/database.ts";
import { insertAuditEntry, type NewAuditEntry } from "../storage/audit-entry.ts";
import { type Action, traitsOf } from "./actions.ts";

/** The one entry of a call, written now or at the end. */
export interface Audit {
  close<T>(work: () => Promise<T>): Promise<T>;
  note(failure: { readonly error: unknown } | undefined): Promise<void>;
}

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

/** Texts of callers are cut: an entry is a line for people. */
const entryCharsMax = 256;

/** What is on record of a call. */
export interface AuditedCall {
  readonly action: Action;
  readonly runId: string;
  /** Of what it is asked. */
  readonly resource: string;
  readonly scope: string;
  /** Whose run it is; undefined for one that is gone, which is nobody's. */
  readonly owner: { readonly client: string; readonly runner_id: string } | undefined;
}

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

/** How the audit tells of an action that failed: the host may find out only then that it is not allowed. */
export function judge(error: unknown): Pick<NewAuditEntry, "result" | "reason"> {
  return error instanceof Fault && error.reason === "GRANT_REFUSED"
    ? { result: "deny", reason: wordsOf(error) }
    : { result: "allow", reason: error instanceof Fault ? error.reason : "INTERNAL" };
}

/** Of a refusal, which says nothing of what was sent. */
export function wordsOf(error: unknown): string {
  return error instanceof Fault ? shorten(error.message) : "INTERNAL";
}

/** Without what Postgres cannot hold. */
function shorten(text: string): string {
  return text.slice(0, entryCharsMax).replaceAll("\0", "").toWellFormed();
}
