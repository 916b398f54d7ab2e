// Which budgets a run has: the service's, and its session's where that is smaller.

import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { Config } from "../../platform/config/keys.ts";
import { priceOf } from "../models/catalogue.ts";
import type { Model } from "../models/model.ts";
import { type Amount, toMicroUsd } from "./day-budget.ts";

/** Of every run, as the service is set up; 0 means no limit. */
export function runBudgetOfService({ budgetRunTokens, budgetRunUsd }: Config): Amount {
  return { tokens: budgetRunTokens, costMicroUsd: toMicroUsd(budgetRunUsd) };
}

/** Of one run; 0 means no limit. */
export function runBudgetOf({ budget }: Agent, service: Amount): Amount {
  return {
    tokens: smallerLimit(Number(budget?.tokens ?? 0), service.tokens),
    costMicroUsd: smallerLimit(Number(budget?.costMicroUsd ?? 0), service.costMicroUsd),
  };
}

/** A budget of money cannot be kept to when nobody knows what a model costs. Throws MODEL_UNSUPPORTED. */
export function assertBudgetKnown(model: Pick<Model, "provider" | "name">, ...budgets: readonly Amount[]): void {
  if (priceOf(model) === undefined && budgets.some(({ costMicroUsd }) => costMicroUsd > 0)) {
    const fix = "use a budget of tokens, or a model with a known price";
    throw new Fault("MODEL_UNSUPPORTED", `failed to create client: no price is known for model ${model.name}: ${fix}`);
  }
}

function smallerLimit(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
