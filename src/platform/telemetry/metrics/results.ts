// Metrics of the log: how much is written, how fast it becomes durable, and how soon readers have it.

import type { EventListeners } from "../events.ts";
import { durationBuckets, type Figures } from "./figures.ts";
import type { FigureSources } from "./sources.ts";

/** A batch writer writes at most 3000 results at a time. */
const batchBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 3_000];
/** Within a process, a reader is woken in well under a millisecond. */
const lagBuckets = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Registers the metrics of results. */
export function countResults(figures: Figures, sources: Partial<FigureSources>): EventListeners {
  // The log counts without the cost of a metric per result; the value is read here.
  figures.counterOf(
    "results_appended_total",
    "Results that became durable by this replica, by type.",
    () => sources.countAppended?.() ?? [],
    "type",
  );
  figures.gauge("listen_connected", "1 while this replica hears the wake-ups of others; readers poll otherwise.", {
    aggregator: "min",
    collect: (gauge) => {
      if (sources.isListening !== undefined) {
        gauge.set(sources.isListening() ? 1 : 0);
      }
    },
  });
  const durations = figures.histogram(
    "append_duration_seconds",
    "From sending a batch of results to its commit; a batch that had to be repeated counts by its last try.",
    { buckets: durationBuckets },
  );
  const sizes = figures.histogram("append_batch_size", "Number of results in a batch.", { buckets: batchBuckets });
  const lag = figures.histogram(
    "fanout_lag_seconds",
    "From the commit of results, or for another replica's the word of it, to their hand-over to a reader that waited; " +
      "at most ten times a second, of all who wait then.",
    { buckets: lagBuckets },
  );
  return {
    batchWritten: ({ results, durationMs }) => {
      durations.observe(durationMs / 1_000);
      sizes.observe(results);
    },
    resultsShown: ({ lagMs }) => lag.observe(lagMs / 1_000),
  };
}
