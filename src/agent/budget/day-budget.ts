// Limits what a client's runs may spend in a day, over all replicas.
//
// D1  A run spends only what it reserved before, except for the piece of a response that crosses the limit.
// D2  The unused part of a reservation is returned when the response is over. A run that dies keeps its reservation: a budget
//     may end early, never late.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config } from "../../platform/config/keys.ts";
import type { Db } from "../../platform/database/database.ts";
import { retryOutages } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type Amount, correctUsage, type DaysAmount, readUsageOfToday, reserveUsage } from "./storage/client-usage.ts";

export type { Amount, DaysAmount };

/** What a day budget needs. */
export interface DayBudgetOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  /** The maximum of a day; 0 means no limit. */
  readonly max: Amount;
}

/** Returns the service's budget for a client's day; 0 means no limit. */
export function dayBudgetOfService({ budgetClientDayTokens, budgetClientDayUsd }: Config): Amount {
  return { tokens: budgetClientDayTokens, costMicroUsd: toMicroUsd(budgetClientDayUsd) };
}

/** Converts US dollars to millionths, rounded up, so that a small limit never becomes 0. Example: 0.5 gives 500000. */
export function toMicroUsd(usd: number): number {
  return Math.ceil(usd * 1_000_000);
}

/** The daily budget of every client. */
export class DayBudget {
  readonly #options: DayBudgetOptions;

  constructor(options: DayBudgetOptions) {
    this.#options = options;
  }

  get max(): Amount {
    return this.#options.max;
  }

  /** False when no limit is set. Usage is then not counted. */
  get isSet(): boolean {
    return this.max.tokens > 0 || this.max.costMicroUsd > 0;
  }

  /**
   * Reserves the amount asked for, or as much as is left of the day. Waits while the database is unavailable. Returns undefined
   * when the signal aborts.
   */
  async reserve(client: string, asked: Amount, signal: AbortSignal): Promise<DaysAmount | undefined> {
    const { db, clock, max } = this.#options;
    const work = async () =>
      signal.aborted ? undefined : await reserveUsage(db, { client, asked: whole(asked), max });
    return await retryOutages(work, { clock });
  }

  /** Replaces a reservation by the actual usage. A database failure is logged, not thrown. */
  async settle(client: string, reserved: DaysAmount, used: Amount): Promise<void> {
    const tokens = used.tokens - reserved.tokens;
    const costMicroUsd = used.costMicroUsd - reserved.costMicroUsd;
    try {
      await correctUsage(this.#options.db, { client, day: reserved.day, ...whole({ tokens, costMicroUsd }) });
    } catch (error) {
      this.#options.events.databaseTroubled({ part: "day budget", error });
    }
  }

  /** Returns what the client has used and reserved today. */
  async read(client: string): Promise<DaysAmount> {
    return await readUsageOfToday(this.#options.db, client);
  }
}

function whole({ tokens, costMicroUsd }: Amount): Amount {
  return { tokens: Math.ceil(tokens), costMicroUsd: Math.ceil(costMicroUsd) };
}
