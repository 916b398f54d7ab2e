// Metrics for Prometheus. They come from events, and from values that are read on each scrape. No label ever contains a client,
// a session, a run or a nonce. Each file in metrics/ defines the metrics of one part of the service.

import { AggregatorRegistry, collectDefaultMetrics, Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import type { EventListeners } from "./events.ts";
import { countBounds } from "./metrics/bounds.ts";
import { countCallbacks } from "./metrics/callbacks.ts";
import { countStatements } from "./metrics/database.ts";
import { createFigures } from "./metrics/figures.ts";
import { countModels } from "./metrics/models.ts";
import { countRequests } from "./metrics/requests.ts";
import { countResults } from "./metrics/results.ts";
import { countRuns } from "./metrics/runs.ts";
import type { FigureSources } from "./metrics/sources.ts";

/** The metrics of a process. */
export interface Metrics {
  readonly contentType: string;
  /** Counts events: pass it to `createEvents`. */
  readonly listeners: EventListeners;
  /** Attaches the sources of values that are read rather than counted. */
  attach(sources: Partial<FigureSources>): void;
  /** Returns the text for Prometheus. */
  print(): Promise<string>;
}

/** Options of the metrics. */
export interface MetricsOptions {
  readonly version: string;
  readonly commit: string;
  /** The tools that have their own label value. */
  readonly toolNames: readonly string[];
  readonly clock: Clock;
  /** True in a worker process: the primary asks for its figures. */
  readonly isWorker?: boolean;
  /** False where no port serves the metrics: then the process is not watched, because this wakes it. */
  readonly isServed?: boolean;
}

/** Returns the sum over the worker processes of this primary, as text for Prometheus. */
export function createSummedMetrics(): Pick<Metrics, "contentType" | "print"> {
  const registry = new AggregatorRegistry();
  return { contentType: registry.contentType, print: () => registry.clusterMetrics() };
}

/** Registers all metrics. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { version, commit, toolNames, clock, isWorker = false, isServed = true } = options;
  const registry = new Registry();
  if (isWorker) {
    AggregatorRegistry.setRegistries([registry]);
    // Answers the primary from now on.
    new AggregatorRegistry();
  }
  if (isServed) {
    // Event-loop lag, heap, file descriptors and similar. The default, a look at the event loop per 10 ms, takes 0.6 % of a core.
    collectDefaultMetrics({ register: registry, prefix: "runnel_", eventLoopMonitoringPrecision: 200 });
  }
  const figures = createFigures(registry);
  figures
    .gauge("build_info", "Version of the service; always 1.", {
      labelNames: ["version", "commit"],
      aggregator: "first",
    })
    .set({ version, commit }, 1);
  const sources: Partial<FigureSources> = {};
  return {
    contentType: registry.contentType,
    listeners: {
      // Reads the pools before a metric that queries the database needs a connection.
      ...countStatements(figures, sources),
      ...countRequests(figures),
      ...countRuns(figures, { sources, clock }),
      ...countResults(figures, sources),
      ...countModels(figures, { toolNames, sources }),
      ...countCallbacks(figures),
      ...countBounds(figures),
    },
    attach: (more) => {
      Object.assign(sources, more);
    },
    print: () => registry.metrics(),
  };
}
