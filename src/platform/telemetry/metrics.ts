// Figures for Prometheus. They are made of events, and of what is read when somebody asks; no label ever holds a client, a
// session, a run or a nonce. The metrics themselves stand in metrics/, a file for each part of the service.

import { collectDefaultMetrics, Registry } from "prom-client";
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

export interface Metrics {
  readonly contentType: string;
  /** What counts events: give it to `createEvents`. */
  readonly listeners: EventListeners;
  /** Figures that are read rather than counted, once there is somebody to read them from. */
  attach(sources: Partial<FigureSources>): void;
  /** The text that Prometheus reads. */
  print(): Promise<string>;
}

export interface MetricsOptions {
  readonly version: string;
  readonly commit: string;
  /** The tools that have a label of their own. */
  readonly toolNames: readonly string[];
  readonly clock: Clock;
}

export function createMetrics({ version, commit, toolNames, clock }: MetricsOptions): Metrics {
  const registry = new Registry();
  // Event-loop lag, heap, descriptors and the like.
  collectDefaultMetrics({ register: registry, prefix: "runnel_" });
  const figures = createFigures(registry);
  figures
    .gauge("build_info", "What runs here; always 1.", { labelNames: ["version", "commit"] })
    .set({ version, commit }, 1);
  const sources: Partial<FigureSources> = {};
  return {
    contentType: registry.contentType,
    listeners: {
      // The pools are looked at before a figure that asks the database needs a connection.
      ...countStatements(figures, sources),
      ...countRequests(figures),
      ...countRuns(figures, { sources, clock }),
      ...countResults(figures, sources),
      ...countModels(figures, { toolNames }),
      ...countCallbacks(figures),
      ...countBounds(figures),
    },
    attach: (more) => {
      Object.assign(sources, more);
    },
    print: () => registry.metrics(),
  };
}
