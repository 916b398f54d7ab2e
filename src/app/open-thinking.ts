// What runs think and work with.

import { type Models, openModels } from "../agent/models/open.ts";
import type { Toolbox } from "../agent/tools/toolbox.ts";
import { DayBudget, dayBudgetOfService } from "../engine/runs/day-budget.ts";
import type { Ground } from "./ground.ts";
import { openTools } from "./open-tools.ts";
import { random } from "./random.ts";

/** What runs think with, what they may use, and what it may cost. */
export interface Thinking {
  readonly models: Models;
  readonly toolbox: Toolbox;
  readonly dayBudget: DayBudget;
}

export async function openThinking(ground: Ground): Promise<Thinking> {
  const { config, clock, events, connections, closers, egress } = ground;
  const models = openModels({ config, clock, events, random, egress });
  closers.defer(() => models.close());
  const dayBudget = new DayBudget({ db: connections.db, clock, events, max: dayBudgetOfService(config) });
  return { models, toolbox: await openTools(ground), dayBudget };
}
