// How many runs may be active at a time, over all replicas: of everybody together, and of each client.

import { Fault } from "../../platform/base/fault.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { type ActiveScope, countActiveRuns, lockAdmission } from "../storage/run-start.ts";

/** 0 means no limit. */
export interface RunLimits {
  readonly concurrentRunsMax: number;
  readonly clientRunsMax: number;
  /** Drivers whose runs wait for a person: while they wait they do not count. */
  readonly freeWhileWaiting: readonly string[];
}

/**
 * Starts that overlap do not see each other's runs. So near a limit they come one after the other; further away, where
 * even all starts in flight together cannot cross it, they need not wait.
 */
const marginRuns = 64;

/** The most active runs beside which a start need not wait for others: undefined for any number; zero or less for none. */
export function freelyBelow(max: number): number | undefined {
  return max === 0 ? undefined : max - marginRuns;
}

/** Refuses so many more runs, one if nothing is said, where there would be more than there may be. */
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
  /** For the caller. */
  readonly whose: string;
  readonly more: number;
}

async function admitBelow(trx: Transaction, max: number, { whose, more, ...scope }: Scope): Promise<void> {
  const free = freelyBelow(max);
  if (free === undefined) {
    return;
  }
  let active = await countActiveRuns(trx, scope);
  // Starts of several runs go beyond the margin sooner, so they always come one after the other.
  if (active + more <= max && (active >= free || more > 1)) {
    await lockAdmission(trx, scope.client);
    active = await countActiveRuns(trx, scope);
  }
  if (active + more > max) {
    throw new Fault("CONCURRENCY_EXHAUSTED", `max concurrent ${whose} (${max}) reached`, { retryAfterMs: 1_000 });
  }
}
