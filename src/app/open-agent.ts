// Opens the agent loop and its parts: models, tools, and limits on what a client spends.

import { runBudgetOfService } from "../agent/budget/budget.ts";
import { DayBudget, dayBudgetOfService } from "../agent/budget/day-budget.ts";
import type { ResolveSubagent } from "../agent/loop/child-runs.ts";
import { createLlmLoop } from "../agent/loop/llm-loop.ts";
import { createCallKeeper } from "../agent/model-calls/keep-calls.ts";
import { type Models, openModels } from "../agent/models/open.ts";
import type { Toolbox } from "../agent/tools/toolbox.ts";
import { awaitDecision } from "../engine/approvals/await-decision.ts";
import type { Wakeup } from "../engine/log/wakeup.ts";
import type { Driver } from "../engine/runs/driver.ts";
import type { WorkDirs } from "../engine/sessions/work-dirs.ts";
import { random } from "../platform/base/random.ts";
import { type AppContext, maxTokensOf } from "../platform/context.ts";
import { openTools } from "./open-tools.ts";

/** The parts that the agent loop works with. */
export interface Agent {
  readonly models: Models;
  readonly toolbox: Toolbox;
  readonly dayBudget: DayBudget;
}

/** Opens the models, the tools and the daily budget. */
export async function openAgent(context: AppContext, workDirs: WorkDirs): Promise<Agent> {
  const { config, settingSecrets: secrets, clock, events, metrics, connections, closers, egress } = context;
  const { db } = connections;
  const keepCalls = config.keepModelCalls
    ? createCallKeeper({ db, clock, events, secrets, bytesMax: config.keptCallBytes })
    : undefined;
  const models = openModels({ config, clock, events, random, egress, keepCalls });
  closers.defer(() => models.close());
  metrics.attach({
    readCircuits: () =>
      models
        .listProviders()
        .flatMap(({ name, circuit }) => (circuit ? [{ provider: name, state: circuit.state }] : [])),
  });
  const dayBudget = new DayBudget({ db, clock, events, max: dayBudgetOfService(config) });
  return { models, toolbox: await openTools(context, workDirs), dayBudget };
}

/** What the agent loop needs of other parts. */
interface LoopParts extends Agent {
  readonly resolveSubagent: ResolveSubagent;
  readonly wakeup: Wakeup;
}

/** Returns the driver that runs the agent loop. */
export function createLoop(
  { config, clock, events, connections: { db } }: AppContext,
  { models, toolbox, dayBudget, resolveSubagent, wakeup }: LoopParts,
): Driver {
  return createLlmLoop({
    resolveModel: models.resolve,
    resolveSubagent,
    clock,
    events,
    dayBudget,
    toolbox,
    awaitDecision: (approval, signal) => awaitDecision({ db, wakeup, clock }, approval, signal),
    defaults: {
      model: models.defaultModel,
      maxTurns: config.defaultMaxTurns,
      maxTokens: maxTokensOf(config),
      historyMessages: config.sessionsHistoryMessages,
      runBudget: runBudgetOfService(config),
    },
  });
}
