// The account of a model call: one of the calls that its run may make, and tokens and cost of its budgets. It is in the
// database, so every replica sees it. Concurrent calls of one run do not see what the others are about to use. Together they
// may exceed the budget of the run by that much, but not the budget of the day.

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

/** Dependencies of an account. */
export interface AccountDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly dayBudget: DayBudget;
  /** The budget of each run; 0 means no limit. */
  readonly runBudget: Amount;
  /** The maximum number of model calls of one run. */
  readonly modelCallsMax: number;
}

/** The run that makes the call. Its signal ends the call. */
export type AskingRun = Pick<HostRun, "runId" | "scope" | "signal">;

/** The model and the request of a call. */
export interface Asked {
  readonly model: Pick<Model, "provider" | "name">;
  /** The request to the model, for estimates of its usage. */
  readonly request: ModelRequest;
}

/** Opens the account of one call. Throws Fault QUOTA_EXHAUSTED when the run or its client's day has nothing left. */
export async function openAccount(deps: AccountDeps, run: AskingRun, { model, request }: Asked): Promise<Account> {
  const { db, dayBudget, runBudget, modelCallsMax } = deps;
  assertBudgetKnown(model, runBudget, dayBudget.max);
  const before = await takeModelCall(db, { runId: run.runId, max: modelCallsMax });
  if (before === undefined) {
    throw new Fault("QUOTA_EXHAUSTED", `the run has reached its maximum of model calls (${modelCallsMax})`);
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

/** The account of one model call. */
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

  /** False when no budget limits the call. */
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

  /** Checks the budgets after each part of the answer. Throws Fault QUOTA_EXHAUSTED when one is used up. */
  async assertWithin(): Promise<void> {
    const reached = this.isLimited ? await this.#spending.check() : undefined;
    if (reached !== undefined) {
      throw this.#refuse(reached);
    }
  }

  /** Records the total usage after the call. */
  async close(used: UsageTotals): Promise<void> {
    await this.#spending.close(used);
    const { db, events } = this.#deps;
    const amount = { tokens: tokensOf(used), costMicroUsd: used.costMicroUsd ?? 0 };
    try {
      await addHostUsage(db, { runId: this.#run.runId, ...amount });
    } catch (error) {
      // The answer exists and is paid for. It must not be lost because its usage could not be recorded.
      events.databaseTroubled({ part: "host usage", error });
    }
  }

  #refuse({ budget, message }: BudgetReached): Fault {
    this.#deps.events.budgetReached({ runId: this.#run.runId, budget });
    return new Fault("QUOTA_EXHAUSTED", message, { metadata: { budget } });
  }
}
