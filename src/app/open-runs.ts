// What works on runs: the drivers, who hands them runs, and who looks after runs that nobody works on.

import { createBenchmark } from "../drivers/benchmark/benchmark.ts";
import { createLlmLoop } from "../drivers/llm-loop/llm-loop.ts";
import { runBudgetOfService } from "../drivers/response/budget.ts";
import { Dispatcher } from "../runs/dispatch.ts";
import type { Lease } from "../runs/lease.ts";
import { Reaper } from "../runs/reap.ts";
import { supervise } from "../runs/supervise.ts";
import type { Ground } from "./ground.ts";
import { openJobTasks } from "./open-jobs.ts";
import type { Runlog } from "./open-log.ts";
import type { Thinking } from "./open-thinking.ts";

export async function openRuns(
  ground: Ground,
  lease: Lease,
  { log, wakeup }: Runlog,
  { models, toolbox, dayBudget }: Thinking,
): Promise<Dispatcher> {
  const { config, clock, events, traces, connections, workDirs, closers } = ground;
  const { db, control } = connections;
  const defaults = {
    model: models.defaultModel,
    maxTurns: config.defaultMaxTurns,
    maxTokens: config.defaultMaxTokens,
    runBudget: runBudgetOfService(config),
  };
  const shared = { resolveModel: models.resolve, clock, events, dayBudget, defaults };
  const drivers = [
    createLlmLoop({ ...shared, toolbox }),
    createBenchmark({ ...shared, openTask: openJobTasks(ground) }),
  ];
  const findDriver = (name: string) => drivers.find((driver) => driver.name === name);
  const historyMessagesMax = config.sessionsHistoryMessages;
  const superviseDeps = { db, log, wakeup, clock, events, traces, findDriver, historyMessagesMax, workDirs };
  const dispatcher = new Dispatcher({
    db: control,
    clock,
    events,
    wakeup,
    lease,
    slots: config.runsSlots,
    supervise: (run, stop) => supervise(run, stop, superviseDeps),
  });
  ground.metrics.attach({ countActiveRuns: () => dispatcher.activeCount });
  await lease.open();
  closers.defer(() => lease.close());
  dispatcher.open();
  closers.defer(() => dispatcher.close());
  const reaper = new Reaper({ db: control, clock, events, log, wakeup, leaseMs: config.runsLeaseMs, findDriver });
  closers.defer(() => reaper.close());
  reaper.open();
  return dispatcher;
}
