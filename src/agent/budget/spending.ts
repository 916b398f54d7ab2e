// Keeps one response of a model within its budgets: the run's own and the daily budget of its client. It reserves from the
// daily budget what it is about to use. Both are checked after every piece, so a budget is overshot by at most the piece that
// reached it.

import type { Price } from "../models/catalogue.ts";
import type { Amount, DayBudget, DaysAmount } from "./day-budget.ts";
import { type Meter, tokensOf, type UsageTotals } from "./usage.ts";

/** The budget that ended a run, and a message with the figures. */
export interface BudgetReached {
  readonly budget: "run tokens" | "run cost" | "day tokens" | "day cost";
  readonly message: string;
}

/** The budgets of one response, and the meter that counts it. */
export interface SpendingOptions {
  readonly client: string;
  /** The budget of the run; 0 means no limit. */
  readonly runMax: Amount;
  readonly day: DayBudget;
  readonly price: Price | undefined;
  /** The usage of the run before this response. */
  readonly before: UsageTotals;
  readonly meter: Meter;
  readonly signal: AbortSignal;
}

/** The tokens reserved at a time: negligible for a budget, and enough for a second of a fast model. */
const sliceTokens = 1_000;

/** Checks one response against its budgets. */
export class Spending {
  readonly #options: SpendingOptions;
  #reserved: DaysAmount | undefined;
  /** The day's limit that is used up. */
  #exhausted: BudgetReached["budget"] | undefined;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** False when no limit is set. Then `check` is not needed after every piece. */
  get isLimited(): boolean {
    const { runMax, day } = this.#options;
    return runMax.tokens > 0 || runMax.costMicroUsd > 0 || day.isSet;
  }

  /** Runs before the request. Returns the budget that leaves no room for it, or undefined when the request may be sent. */
  async open(): Promise<BudgetReached | undefined> {
    const { meter, price, day } = this.#options;
    const promptTokens = meter.promptTokens;
    const reached = this.#runReached({ tokens: promptTokens, costMicroUsd: promptTokens * (price?.input ?? 0) });
    if (reached !== undefined || !day.isSet) {
      return reached;
    }
    const need = { tokens: promptTokens, costMicroUsd: promptTokens * (price?.input ?? 0) };
    await this.#reserve(need);
    return this.#dayReached(need);
  }

  /** Runs after each piece. Returns the budget that it reached. Waits only when more must be reserved. */
  async check(): Promise<BudgetReached | undefined> {
    const used = this.#used();
    const reached = this.#runReached(used);
    if (reached !== undefined || this.#reserved === undefined || !this.#isBeyond(used)) {
      return reached;
    }
    if (this.#exhausted === undefined) {
      const { tokens, costMicroUsd } = this.#reserved;
      await this.#reserve({ tokens: used.tokens - tokens, costMicroUsd: used.costMicroUsd - costMicroUsd });
    }
    return this.#dayReached(used);
  }

  /** Runs after the response. Returns the unused part of the reservation to the day. */
  async close(total: UsageTotals): Promise<void> {
    if (this.#reserved !== undefined) {
      const used = { tokens: tokensOf(total), costMicroUsd: total.costMicroUsd ?? 0 };
      await this.#options.day.settle(this.#options.client, this.#reserved, used);
    }
  }

  #used(): Amount {
    const soFar = this.#options.meter.soFar();
    return { tokens: tokensOf(soFar), costMicroUsd: soFar.costMicroUsd ?? 0 };
  }

  #runReached(used: Amount): BudgetReached | undefined {
    const { runMax, before } = this.#options;
    const tokens = tokensOf(before) + used.tokens;
    const costMicroUsd = (before.costMicroUsd ?? 0) + used.costMicroUsd;
    if (runMax.tokens > 0 && tokens >= runMax.tokens) {
      return reachedRun("run tokens", `${Math.ceil(tokens)} of ${runMax.tokens} tokens`);
    }
    if (runMax.costMicroUsd > 0 && costMicroUsd >= runMax.costMicroUsd) {
      return reachedRun("run cost", `${usd(costMicroUsd)} of ${usd(runMax.costMicroUsd)}`);
    }
    return undefined;
  }

  #isBeyond({ tokens, costMicroUsd }: Amount): boolean {
    const reserved = this.#reserved ?? { tokens: 0, costMicroUsd: 0 };
    return tokens > reserved.tokens || costMicroUsd > reserved.costMicroUsd;
  }

  /** Reserves the needed amount and one slice more. A run that crosses midnight stays with the day on which it began. */
  async #reserve(need: Amount): Promise<void> {
    const { client, day, price, signal } = this.#options;
    const asked = {
      tokens: Math.ceil(Math.max(0, need.tokens)) + sliceTokens,
      costMicroUsd: Math.ceil(Math.max(0, need.costMicroUsd) + sliceTokens * (price?.output ?? 0)),
    };
    const granted = await day.reserve(client, asked, signal);
    if (granted === undefined) {
      return;
    }
    const known = this.#reserved ?? { day: granted.day, tokens: 0, costMicroUsd: 0 };
    this.#reserved = {
      day: known.day,
      tokens: known.tokens + granted.tokens,
      costMicroUsd: known.costMicroUsd + granted.costMicroUsd,
    };
    if (granted.tokens < asked.tokens) {
      this.#exhausted = "day tokens";
    } else if (granted.costMicroUsd < asked.costMicroUsd) {
      this.#exhausted = "day cost";
    }
  }

  #dayReached(used: Amount): BudgetReached | undefined {
    if (this.#exhausted === undefined || !this.#isBeyond(used)) {
      return undefined;
    }
    const { max } = this.#options.day;
    const limit = this.#exhausted === "day tokens" ? `${max.tokens} tokens` : usd(max.costMicroUsd);
    return { budget: this.#exhausted, message: `budget exceeded: the client has used its ${limit} of today (UTC)` };
  }
}

function reachedRun(budget: BudgetReached["budget"], figures: string): BudgetReached {
  return { budget, message: `budget exceeded: the run has used ${figures}` };
}

function usd(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
}
