// What runners may take of the service: `runners`.

import type { Key } from "../key.ts";
import { baseUrl, integer } from "../kinds.ts";

export const runnerKeys = {
  runnersHostUrl: baseUrl({
    path: "runners.host_url",
    about: "Where runners that are dialled reach this service, which they are told with each run.",
  }),
  runnersMaxConcurrent: integer({
    path: "runners.max_concurrent",
    fallback: 200,
    min: 1,
    max: 100_000,
    about: "Runs that one runner works on at a time, over all its workers; others wait in the queue.",
  }),
  runnersMaxResults: integer({
    path: "runners.max_results",
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    about: "Results that a runner may report for one run; further ones are refused, but for its end.",
  }),
  runnersMaxResultMb: integer({
    path: "runners.max_result_mb",
    fallback: 64,
    min: 1,
    max: 1_024,
    about: "Mebibytes of results that a runner may report for one run; further ones are refused, but for its end.",
  }),
} as const satisfies Record<string, Key<unknown>>;
