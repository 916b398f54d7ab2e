// The settings of runners (`runners`) and of their calls to the host API (`host`).

import type { ProtocolSettings } from "../../api/protocol.ts";
import type { Key } from "../../platform/config/key.ts";
import type { ValuesOf } from "../../platform/config/keys.ts";
import { baseUrl, integer } from "../../platform/config/kinds.ts";

const runnerKeys = {
  runnersHostUrl: baseUrl({
    path: "runners.host_url",
    about: "URL of this service for runners that it dials. Each run passes it to its runner.",
  }),
  runnersMaxConcurrent: integer({
    path: "runners.max_concurrent",
    fallback: 200,
    min: 1,
    max: 100_000,
    about: "Maximum number of concurrent runs of one runner, over all its workers; others wait in the queue.",
  }),
  runnersMaxResults: integer({
    path: "runners.max_results",
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    about:
      "Maximum number of results that a runner may report for one run; further ones are refused, except the terminal one.",
  }),
  runnersMaxResultMb: integer({
    path: "runners.max_result_mb",
    fallback: 64,
    min: 1,
    max: 1_024,
    about:
      "Maximum size of the results that a runner may report for one run, in mebibytes; further ones are refused, except the terminal one.",
  }),
} as const satisfies Record<string, Key<unknown>>;

/** The maximum of both quotas: a run that needs more is out of control. */
const callsMax = 1_000_000;

const hostKeys = {
  hostModelCalls: integer({
    path: "host.model_calls",
    fallback: 100,
    min: 0,
    max: callsMax,
    about: "Maximum number of model calls that a runner makes through its host in one run.",
  }),
  hostToolCalls: integer({
    path: "host.tool_calls",
    fallback: 100,
    min: 0,
    max: callsMax,
    about: "Maximum number of tool calls that a runner makes through its host in one run.",
  }),
} as const satisfies Record<string, Key<unknown>>;

const langbotKeys = { ...runnerKeys, ...hostKeys } as const;

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof langbotKeys> {}
}

/** The settings of this protocol. */
export const langbotSettings: ProtocolSettings = { keys: langbotKeys };
