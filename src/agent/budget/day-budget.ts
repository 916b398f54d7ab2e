// What a client's runs may spend in a day, over all replicas.
//
// D1  Nothing is spent that was not set aside before, but for the piece of a response that crosses the line.
// D2  What a run set aside and did not use goes back when its response is over. A run that dies keeps it: a budget may
//     end early, never late.

import type { Clock } from "../../platform/base/clock.ts";
import type { Config } from "../../platform/config/keys.ts";
import type { Db } from "../../platform/database/database.ts";
import { retryOutages } from "../../platform/database/errors.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type Amount, correctUsage, type DaysAmount, readUsageOfToday, reserveUsage } from "./storage/client-usage.ts";

export type { Amount, DaysAmount };

export interface DayBudgetOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  /** 0 means no limit. */
  readonly max: Amount;
}

/** Of a client's day, as the service is set up; 0 means no limit. */
export function dayBudgetOfService({ budgetClientDayTokens, budgetClientDayUsd }: Config): Amount {
  return { tokens: budgetClientDayTokens, costMicroUsd: toMicroUsd(budgetClientDayUsd) };
}

/** Never 0 for a limit that is set, however small. */
export function toMicroUsd(usd: number): number {
  return Math.ceil(usd * 1_000_000);
}

export class DayBudget {
  readonly #options: DayBudgetOptions;

  constructor(options: DayBudgetOptions) {
    this.#options = options;
  }

  get max(): Amount {
    return this.#options.max;
  }

  /** False when there is nothing to keep to, and so nothing to count. */
  get isSet(): boolean {
    return this.max.tokens > 0 || this.max.costMicroUsd > 0;
  }

  /** Sets aside what is asked for or what is left; waits for a database that is away. Undefined when the signal aborts. */
  async reserve(client: string, asked: Amount, signal: AbortSignal): Promise<DaysAmount | undefined> {
    const { db, clock, max } = this.#options;
    const work = async () =>
      signal.aborted ? undefined : await reserveUsage(db, { client, asked: whole(asked), max });
    return await retryOutages(work, { clock });
  }

  /** Replaces what was set aside by what was used. */
  async settle(client: string, reserved: DaysAmount, used: Amount): Promise<void> {
    const tokens = used.tokens - reserved.tokens;
    const costMicroUsd = used.costMicroUsd - reserved.costMicroUsd;
    try {
      await correctUsage(this.#options.db, { client, day: reserved.day, ...whole({ tokens, costMicroUsd }) });
    } catch (error) {
      this.#options.events.databaseTroubled({ part: "day budget", error });
    }
  }

  async read(client: string): Promise<DaysAmount> {
    return await readUsageOfToday(this.#options.db, client);
  }
}

function whole({ tokens, costMicroUsd }: Amount): Amount {
  return { tokens: Math.ceil(tokens), costMicroUsd: Math.ceil(costMicroUsd) };
}
