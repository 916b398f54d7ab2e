// Metrics of Postgres: its connection pools, and how long statements take.

import type { EventListeners } from "../events.ts";
import { durationBuckets, type Figures } from "./figures.ts";
import type { FigureSources, PoolFigures } from "./sources.ts";

/** Registers the metrics of the database. */
export function countStatements(figures: Figures, sources: Partial<FigureSources>): EventListeners {
  const gaugePools = (name: string, help: string, read: (pool: PoolFigures) => number): void => {
    figures.gauge(name, help, {
      labelNames: ["pool"],
      collect: (gauge) => {
        for (const pool of sources.readPools?.() ?? []) {
          gauge.set({ pool: pool.name }, read(pool));
        }
      },
    });
  };
  gaugePools("db_pool_in_use", "Number of connections in use.", ({ inUse }) => inUse);
  gaugePools("db_pool_waiting", "Number of callers that wait for a connection.", ({ waiting }) => waiting);
  gaugePools("db_pool_size", "Maximum number of connections of the pool.", ({ size }) => size);
  const durations = figures.histogram(
    "db_query_duration_seconds",
    "How long a statement of the pools takes, failed ones included; the batchWriters of the log count as append_duration_seconds.",
    { buckets: durationBuckets },
  );
  return { statementFinished: ({ durationMs }) => durations.observe(durationMs / 1_000) };
}
