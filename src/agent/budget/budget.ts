// Determines the budgets of a run: those of the service, or those of its session where they are smaller.

import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { Config } from "../../platform/config/keys.ts";
import { priceOf } from "../models/catalogue.ts";
import type { Model } from "../models/model.ts";
import { type Amount, toMicroUsd } from "./day-budget.ts";

/** Returns the service's budget for every run; 0 means no limit. */
export function runBudgetOfService({ budgetRunTokens, budgetRunUsd }: Config): Amount {
  return { tokens: budgetRunTokens, costMicroUsd: toMicroUsd(budgetRunUsd) };
}

/** Returns the budget of one run: the smaller of the session's and the service's. 0 means no limit. */
export function runBudgetOf({ budget }: Agent, service: Amount): Amount {
  return {
    tokens: smallerLimit(Number(budget?.tokens ?? 0), service.tokens),
    costMicroUsd: smallerLimit(Number(budget?.costMicroUsd ?? 0), service.costMicroUsd),
  };
}

/**
 * Checks that a budget of money can be enforced, which needs a known price.
 * @throws Fault MODEL_UNSUPPORTED when a money budget is set and the model's price is unknown.
 */
export function assertBudgetKnown(model: Pick<Model, "provider" | "name">, ...budgets: readonly Amount[]): void {
  if (priceOf(model) === undefined && budgets.some(({ costMicroUsd }) => costMicroUsd > 0)) {
    const fix = "use a budget of tokens, or a model with a known price";
    throw new Fault("MODEL_UNSUPPORTED", `failed to create client: no price is known for model ${model.name}: ${fix}`);
  }
}

function smallerLimit(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
