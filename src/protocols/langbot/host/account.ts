// What a call to a model costs its run: one of the calls that it may make, and tokens and money of its budgets. Kept in the
// database, so that every replica knows it. Calls of one run that are made at the same time do not see what the others are
// about to use: the budget of the run may be passed by as much. That of the day may not.

import { assertBudgetKnown } from "../../../agent/budget/budget.ts";
import type { Amount, DayBudget } from "../../../agent/budget/day-budget.ts";
import { type BudgetReached, Spending } from "../../../agent/budget/spending.ts";
import { Meter, tokensOf, type UsageTotals } from "../../../agent/budget/usage.ts";
import { priceOf } from "../../../agent/models/catalogue.ts";
import type { Model, ModelRequest } from "../../../agent/models/model.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { addHostUsage, takeModelCall } from "../storage/host-usage.ts";
import type { HostRun } from "./access.ts";

export interface AccountDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly dayBudget: DayBudget;
  /** Of every run; 0 means no limit. */
  readonly runBudget: Amount;
  /** Calls to models of one run. */
  readonly modelCallsMax: number;
}

/** Whose runner asks, until when. */
export type AskingRun = Pick<HostRun, "runId" | "scope" | "signal">;

export interface Asked {
  readonly model: Pick<Model, "provider" | "name">;
  /** What it is told, for estimates. */
  readonly request: ModelRequest;
}

/** Of one call. Throws QUOTA_EXHAUSTED when its run or the day of its client has nothing left. */
export async function openAccount(deps: AccountDeps, run: AskingRun, { model, request }: Asked): Promise<Account> {
  const { db, dayBudget, runBudget, modelCallsMax } = deps;
  assertBudgetKnown(model, runBudget, dayBudget.max);
  const before = await takeModelCall(db, { runId: run.runId, max: modelCallsMax });
  if (before === undefined) {
    throw new Fault("QUOTA_EXHAUSTED", `the run has made its ${modelCallsMax} calls to models`);
  }
  const price = priceOf(model);
  const meter = new Meter(request, price);
  const spending = new Spending({
    client: run.scope.client,
    runMax: runBudget,
    day: dayBudget,
    price,
    before: { promptTokens: before.tokens, costMicroUsd: before.costMicroUsd },
    meter,
    signal: run.signal,
  });
  const account = new Account(deps, run, meter, spending);
  await account.open();
  return account;
}

export class Account {
  readonly meter: Meter;
  readonly #deps: AccountDeps;
  readonly #run: AskingRun;
  readonly #spending: Spending;

  constructor(deps: AccountDeps, run: AskingRun, meter: Meter, spending: Spending) {
    this.#deps = deps;
    this.#run = run;
    this.meter = meter;
    this.#spending = spending;
  }

  /** False when there is nothing to keep to. */
  get isLimited(): boolean {
    return this.#spending.isLimited;
  }

  async open(): Promise<void> {
    const reached = await this.#spending.open();
    if (reached !== undefined) {
      await this.#spending.close({});
      throw this.#refuse(reached);
    }
  }

  /** After each piece. Throws QUOTA_EXHAUSTED. */
  async assertWithin(): Promise<void> {
    const reached = this.isLimited ? await this.#spending.check() : undefined;
    if (reached !== undefined) {
      throw this.#refuse(reached);
    }
  }

  /** Afterwards, with all that was used. */
  async close(used: UsageTotals): Promise<void> {
    await this.#spending.close(used);
    const { db, events } = this.#deps;
    const amount = { tokens: tokensOf(used), costMicroUsd: used.costMicroUsd ?? 0 };
    try {
      await addHostUsage(db, { runId: this.#run.runId, ...amount });
    } catch (error) {
      // The answer is there and paid for: it is not lost over a figure.
      events.databaseTroubled({ part: "host usage", error });
    }
  }

  #refuse({ budget, message }: BudgetReached): Fault {
    this.#deps.events.budgetReached({ runId: this.#run.runId, budget });
    return new Fault("QUOTA_EXHAUSTED", message, { metadata: { budget } });
  }
}
