// What runs think with.

import { randomInt } from "node:crypto";
import { type Models, openModels } from "../models/open.ts";
import { DayBudget, dayBudgetOfService } from "../runs/day-budget.ts";
import type { Ground } from "./ground.ts";

/** What runs think with, and what it may cost. */
export interface Thinking {
  readonly models: Models;
  readonly dayBudget: DayBudget;
}

export function openThinking({ config, clock, events, connections: { db }, closers }: Ground): Thinking {
  const models = openModels({ config, clock, events, random: () => randomInt(2 ** 32) / 2 ** 32 });
  closers.defer(() => models.close());
  return { models, dayBudget: new DayBudget({ db, clock, events, max: dayBudgetOfService(config) }) };
}
