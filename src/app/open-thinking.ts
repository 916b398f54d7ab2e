// What runs think and act with.

import { randomInt } from "node:crypto";
import { type Models, openModels } from "../models/open.ts";
import { DayBudget, dayBudgetOfService } from "../runs/day-budget.ts";
import { selectTools } from "../tools/builtin.ts";
import { createSelectTools, type SelectTools } from "../tools/select-tools.ts";
import type { Ground } from "./ground.ts";

/** What runs think with, what they may use, and what it may cost. */
export interface Thinking {
  readonly models: Models;
  readonly selectTools: SelectTools;
  readonly dayBudget: DayBudget;
}

export function openThinking(ground: Ground): Thinking {
  const { config, clock, events, connections, keyRing, egress, signRequest, closers } = ground;
  const random = (): number => randomInt(2 ** 32) / 2 ** 32;
  const models = openModels({ config, clock, events, random });
  closers.defer(() => models.close());
  return {
    models,
    selectTools: createSelectTools({
      selectBuiltin: selectTools,
      egress,
      clock,
      random,
      sign: signRequest,
      // Where nobody proves anything to us, we have nothing to prove with either.
      canSign: (client) => keyRing.isOpen || keyRing.findCallbackSecret(client) !== undefined,
      callbackBaseUrl: config.callbackBaseUrl,
      callbackTimeoutMs: config.callbackTimeoutSec * 1_000,
    }),
    dayBudget: new DayBudget({ db: connections.db, clock, events, max: dayBudgetOfService(config) }),
  };
}
