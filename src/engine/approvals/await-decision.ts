// Waits for the decision about an approval whose asker keeps its process meanwhile. The run of such an approval is not parked.

import { type Clock, over } from "../../platform/base/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { type ApprovalRow, findApproval, type NewApproval } from "../storage/approval.ts";

/** What the wait needs. */
export interface DecisionSource {
  readonly db: Db;
  readonly wakeup: Wakeup;
  readonly clock: Clock;
}

/** The approval of a run. */
export interface AwaitedApproval extends Pick<NewApproval, "approvalId" | "expireMs"> {
  readonly client: string;
  readonly runId: string;
}

/** The clocks of this process and of the database may differ, and the database may be away. */
const retryDelayMs = 1_000;

/**
 * Returns the approval once it is no longer pending. Returns undefined after the signal, and for an approval that is gone. Waits while
 * the database is away.
 */
export async function awaitDecision(
  { db, wakeup, clock }: DecisionSource,
  { client, runId, approvalId, expireMs }: AwaitedApproval,
  signal: AbortSignal,
): Promise<ApprovalRow | undefined> {
  let pause = new AbortController();
  const look = (): void => pause.abort(over);
  const leave = [wakeup.subscribe("approval", ({ key }) => key === runId && look()), wakeup.onGap(look)];
  try {
    while (!signal.aborted) {
      pause = new AbortController();
      const row = await findApproval(db, { client, id: approvalId }).catch(() => "unknown" as const);
      if (row === undefined || (row !== "unknown" && row.state !== "pending")) {
        return row;
      }
      const restMs = row === "unknown" ? 0 : expireMs - clock.nowMs();
      await clock.sleep(Math.max(retryDelayMs, restMs), AbortSignal.any([signal, pause.signal]));
    }
    return undefined;
  } finally {
    for (const each of leave) {
      each();
    }
  }
}
