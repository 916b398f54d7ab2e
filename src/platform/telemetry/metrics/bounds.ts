// Metrics of limits on tools: killed bash commands, and refused calls to clients' hosts.

import type { EventListeners } from "../events.ts";
import type { Figures } from "./figures.ts";

/** Registers the metrics of limits. */
export function countBounds(figures: Figures): Pick<EventListeners, "commandKilled" | "egressDenied"> {
  const kills = figures.counter(
    "jail_kills_total",
    "Commands of the tool bash that were killed: for time, processes, memory, disk that they took, disk that they left, " +
      "or because their run was over or stopped.",
    ["limit"],
  );
  const denials = figures.counter(
    "ssrf_denied_total",
    "Targets of callers that may not be called, each time one is named, used or dialled: for how the URL is written, a " +
      "name of this machine, or an address that is not public.",
    ["class"],
  );
  return {
    commandKilled: ({ limit }) => kills.inc({ limit }),
    egressDenied: ({ kind }) => denials.inc({ class: kind }),
  };
}
