// Metrics of runs: how many, how they end, how long they wait and last, and what happens when their replica is lost.

import type { Clock } from "../../base/clock.ts";
import { joined } from "../../base/joined.ts";
import type { EventListeners } from "../events.ts";
import { createLabel, durationBuckets, type Figures, longDurationBuckets } from "./figures.ts";
import type { FigureSources } from "./sources.ts";

/** The maximum time that a scrape waits for the value from the database, in milliseconds. */
const oldestTimeoutMs = 1_000;

/** Dependencies of the metrics. */
export interface RunSources {
  readonly sources: Partial<FigureSources>;
  readonly clock: Clock;
}

/** Registers the metrics of runs. */
export function countRuns(figures: Figures, { sources, clock }: RunSources): EventListeners {
  figures.gauge("runs_active", "Number of runs that this replica works on.", {
    collect: (gauge) => {
      if (sources.countActiveRuns !== undefined) {
        gauge.set(sources.countActiveRuns());
      }
    },
  });
  const readOldest = createOldest(sources, clock);
  figures.gauge(
    "run_oldest_unleased_seconds",
    "Age of the run that has waited longest for an owner, over all replicas; one whose owner is gone counts from when it " +
      "was started. Absent while the database is unreachable.",
    {
      aggregator: "max",
      collect: async (gauge) => {
        const oldestMs = await readOldest();
        if (oldestMs === undefined) {
          gauge.remove();
        } else {
          gauge.set(oldestMs / 1_000);
        }
      },
    },
  );
  return { ...countLives(figures), ...countMishaps(figures), ...countStops(figures) };
}

/** Never rejects, and runs one query at a time: a slow database does not get more queries. */
function createOldest(sources: Partial<FigureSources>, clock: Clock): () => Promise<number | undefined> {
  const ask = joined(async () => await sources.oldestUnleasedMs?.().catch(() => undefined));
  return async () => {
    const done = new AbortController();
    try {
      return await Promise.race([ask(), clock.sleep(oldestTimeoutMs, done.signal).then(() => undefined)]);
    } finally {
      done.abort();
    }
  };
}

function countLives(figures: Figures): Pick<EventListeners, "runStarted" | "runFinished"> {
  const started = figures.counter(
    "runs_started_total",
    "Number of runs that this replica started to work on, including those of lost replicas.",
  );
  const waits = figures.histogram(
    "run_queue_wait_seconds",
    "Time from a run's creation to its first start, in seconds.",
    {
      buckets: durationBuckets,
    },
  );
  const finished = figures.counter(
    "runs_finished_total",
    "Runs that this replica ended, by status and by code or finish reason.",
    ["status", "reason"],
  );
  const durations = figures.histogram(
    "run_duration_seconds",
    "Time from a run's creation to its terminal result, in seconds.",
    {
      buckets: longDurationBuckets,
    },
  );
  const reasonLabel = createLabel();
  return {
    runStarted: ({ queueWaitMs }) => {
      started.inc();
      if (queueWaitMs !== undefined) {
        waits.observe(queueWaitMs / 1_000);
      }
    },
    runFinished: ({ status, code, durationMs }) => {
      finished.inc({ status, reason: reasonLabel(code) });
      durations.observe(durationMs / 1_000);
    },
  };
}

function countMishaps(figures: Figures): Pick<EventListeners, "runTakenOver" | "leaseLost" | "resultsLost"> {
  const takeovers = figures.counter(
    "run_takeovers_total",
    "Runs of a lost replica that this one put back to the queue.",
  );
  const lost = figures.counter("lease_lost_total", "Number of times that this replica lost its lease.");
  const results = figures.counter("results_lost_total", "Acknowledged results that the database has lost.");
  return {
    runTakenOver: () => takeovers.inc(),
    leaseLost: () => lost.inc(),
    resultsLost: ({ acknowledged, found }) => results.inc(acknowledged - found),
  };
}

function countStops(figures: Figures): Pick<EventListeners, "budgetReached" | "loopDetected"> {
  const budgets = figures.counter("budget_stops_total", "Number of runs that a budget stopped.", ["budget"]);
  const loops = figures.counter(
    "loop_interventions_total",
    "Number of times that the agent asked a model to stop repeating a call.",
  );
  const budgetLabel = createLabel();
  return {
    budgetReached: ({ budget }) => budgets.inc({ budget: budgetLabel(budget) }),
    loopDetected: () => loops.inc(),
  };
}
