// What a run of a runner may ask of its host: `host`.

import type { Key } from "../key.ts";
import { integer } from "../kinds.ts";

/** A run that needs more has lost its way. */
const callsMax = 1_000_000;

export const hostKeys = {
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
