// Metrics of status callbacks: the outcomes of their attempts.

import type { EventListeners } from "../events.ts";
import type { Figures } from "./figures.ts";

/** Registers the metrics of callbacks. */
export function countCallbacks(
  figures: Figures,
): Pick<EventListeners, "callbackDelivered" | "callbackFailed" | "callbackDead"> {
  const attempts = figures.counter(
    "callback_attempts_total",
    "Attempts to send a status callback: delivered, failed and to be repeated, or dead, which is the last failure of one.",
    ["outcome"],
  );
  return {
    callbackDelivered: () => attempts.inc({ outcome: "delivered" }),
    callbackFailed: () => attempts.inc({ outcome: "failed" }),
    callbackDead: () => attempts.inc({ outcome: "dead" }),
  };
}
