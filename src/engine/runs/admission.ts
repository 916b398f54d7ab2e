// Limits how many runs are active at a time on all replicas: of all clients together, and of each client.

import { Fault } from "../../platform/base/fault.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { type ActiveScope, countActiveRuns, lockAdmission } from "../storage/active-runs.ts";

/** The maximum numbers of active runs; 0 means no limit. */
export interface RunLimits {
  readonly concurrentRunsMax: number;
  readonly clientRunsMax: number;
  /** Drivers whose runs do not count while they wait for a person. */
  readonly freeWhileWaiting: readonly string[];
}

/**
 * Overlapping starts do not see each other's runs. So starts near a limit come one after the other. Further below, where all
 * starts in flight together cannot cross the limit, they need not wait.
 */
const marginRuns = 64;

/**
 * Returns the number of active runs below which a start need not wait for others. Returns undefined without a limit; zero or
 * less when every start has to wait.
 */
export function freelyBelow(max: number): number | undefined {
  return max === 0 ? undefined : max - marginRuns;
}

/**
 * Checks that `more` further runs may become active.
 * @throws Fault CONCURRENCY_EXHAUSTED when a limit would be crossed.
 */
export async function admit(
  trx: Transaction,
  { concurrentRunsMax, clientRunsMax, freeWhileWaiting }: RunLimits,
  client: string,
  more = 1,
): Promise<void> {
  await admitBelow(trx, concurrentRunsMax, { whose: "sessions", more, freeWhileWaiting });
  await admitBelow(trx, clientRunsMax, { whose: "sessions of a client", client, more, freeWhileWaiting });
}

interface Scope extends ActiveScope {
  /** What the limit counts, for the error message. */
  readonly whose: string;
  readonly more: number;
}

async function admitBelow(trx: Transaction, max: number, { whose, more, ...scope }: Scope): Promise<void> {
  const free = freelyBelow(max);
  if (free === undefined) {
    return;
  }
  let active = await countActiveRuns(trx, scope);
  // Starts of several runs use up the margin sooner, so they always come one after the other.
  if (active + more <= max && (active >= free || more > 1)) {
    await lockAdmission(trx, scope.client);
    active = await countActiveRuns(trx, scope);
  }
  if (active + more > max) {
    throw new Fault("CONCURRENCY_EXHAUSTED", `max concurrent ${whose} (${max}) reached`, { retryAfterMs: 1_000 });
  }
}
