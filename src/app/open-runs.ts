// What works on runs: the drivers, who hands them runs, and who looks after runs that nobody works on.

import { createLlmLoop } from "../agent/loop/llm-loop.ts";
import { runBudgetOfService } from "../engine/runs/budget.ts";
import { Dispatcher } from "../engine/runs/dispatch.ts";
import type { Driver } from "../engine/runs/driver.ts";
import type { Lease } from "../engine/runs/lease.ts";
import { Reaper } from "../engine/runs/reap.ts";
import { supervise } from "../engine/runs/supervise.ts";
import { createDecisionCycle } from "../protocols/community/decision-cycle/decision-cycle.ts";
import { createTextExchange } from "../protocols/exchange/driver/text-exchange.ts";
import { createBenchmark } from "../protocols/jobspec/benchmark/benchmark.ts";
import { createRemoteRunner } from "../protocols/langbot/remote-runner/remote-runner.ts";
import { createDialRun } from "../protocols/langbot/runners/dial-run.ts";
import { createOpenRemoteRun } from "../protocols/langbot/runners/remote-run.ts";
import type { Ground } from "./ground.ts";
import { type OwnAddress, openDecisions } from "./open-decisions.ts";
import { openExchanges } from "./open-exchanges.ts";
import { openJobTasks } from "./open-jobs.ts";
import type { Runlog } from "./open-log.ts";
import type { Runners } from "./open-runners.ts";
import type { Thinking } from "./open-thinking.ts";

/** Of a runner that repeats itself: more of them tell nothing new. */
const repeatedVerdictsMax = 100;

export async function openRuns(
  ground: Ground,
  lease: Lease,
  { log, wakeup }: Runlog,
  thinking: Thinking,
  { mailboxes, runTokens }: Runners,
  ownAddress: Promise<OwnAddress>,
): Promise<Dispatcher> {
  const { models, toolbox, dayBudget } = thinking;
  const { config, clock, events, traces, connections, egress, workDirs, closers } = ground;
  const { db, control } = connections;
  const defaults = {
    model: models.defaultModel,
    maxTurns: config.defaultMaxTurns,
    maxTokens: config.defaultMaxTokens,
    runBudget: runBudgetOfService(config),
  };
  const shared = { resolveModel: models.resolve, clock, events, dayBudget, defaults };
  const drivers: readonly Driver[] = [
    createLlmLoop({ ...shared, toolbox }),
    createBenchmark({ ...shared, openTask: openJobTasks(ground) }),
    createTextExchange(openExchanges(ground, toolbox)),
    createDecisionCycle(await openDecisions(ground, thinking, ownAddress)),
    createRemoteRunner({
      clock,
      mailboxes,
      openRun: createOpenRemoteRun({
        db,
        clock,
        limits: {
          resultsMax: config.runnersMaxResults,
          bytesMax: config.runnersMaxResultMb * 1024 * 1024,
          repeatedVerdictsMax,
        },
      }),
      dial: createDialRun({ db, egress, runTokens, hostUrl: config.runnersHostUrl }),
      announceRoom: () => wakeup.publish({ topic: "offer", key: "", value: 0 }),
    }),
  ];
  const findDriver = (name: string) => drivers.find((driver) => driver.name === name);
  const historyMessagesMax = config.sessionsHistoryMessages;
  const isLeaseHeld = (): boolean => lease.whyNotHeld() === null;
  const superviseDeps = {
    db,
    log,
    wakeup,
    clock,
    events,
    traces,
    findDriver,
    historyMessagesMax,
    isLeaseHeld,
    workDirs,
  };
  const dispatcher = new Dispatcher({
    db: control,
    clock,
    events,
    wakeup,
    lease,
    slots: config.runsSlots,
    outsideDrivers: drivers.filter(({ isOutside }) => isOutside === true).map(({ name }) => name),
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
