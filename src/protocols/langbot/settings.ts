// The settings of runners (`runners`) and of their calls to the host API (`host`).

import type { ProtocolSettings } from "../../api/protocol.ts";
import type { Key } from "../../platform/config/key.ts";
import type { ValuesOf } from "../../platform/config/keys.ts";
import { baseUrl, integer } from "../../platform/config/kinds.ts";

const runnerKeys = {
  runnersHostUrl: baseUrl({
    path: "runners.host_url",
    about: "URL at which runners that this service dials reach it. Each run carries it to its runner.",
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

/** The maximum of both quotas: a run that needs more is out of control. */
const callsMax = 1_000_000;

const hostKeys = {
  hostModelCalls: integer({
    path: "host.model_calls",
    fallback: 100,
    min: 0,
    max: callsMax,
    about: "Most calls to models that a run of a runner makes through its host.",
  }),
  hostToolCalls: integer({
    path: "host.tool_calls",
    fallback: 100,
    min: 0,
    max: callsMax,
    about: "Most calls of tools that a run of a runner makes through its host.",
  }),
} as const satisfies Record<string, Key<unknown>>;

const langbotKeys = { ...runnerKeys, ...hostKeys } as const;

declare module "../../platform/config/keys.ts" {
  interface Config extends ValuesOf<typeof langbotKeys> {}
}

/** The settings of this protocol. */
export const langbotSettings: ProtocolSettings = { keys: langbotKeys };
