// How runs of A2A agents fail.

import type { FailedEnd } from "../../engine/runs/driver.ts";
import { EgressFailure } from "../../platform/egress/failure.ts";
import { errorCharsMax } from "./limits.ts";

/** Returns a failed end. */
export function failed(code: string, error: string, retryable = false): FailedEnd {
  return { kind: "failed", code, error, retryable };
}

/** Returns the end of a run whose message may have started a task that nothing knows. */
export function taskLost(agent: string, why: string): FailedEnd {
  return failed(
    "runner.turn_lost",
    `the message to the agent ${agent} was sent, and its outcome is unknown (${why}). It is not sent twice, and the agent lists no task ` +
      "of it: look at what the agent has done, then send the message again",
  );
}

/** Only ends the work: the component that stops the run writes the reason. */
export const stopped: FailedEnd = failed("runner.error", "stopped");

/** Words an error of the agent or of its network. */
export function wordsOf(error: unknown, hide: (text: string) => string): string {
  const { message } = findEgressFailure(error) ?? (error instanceof Error ? error : { message: String(error) });
  return hide(message).slice(0, errorCharsMax).toWellFormed();
}

/** Returns the failure of the network below an error of a library. */
export function findEgressFailure(error: unknown): EgressFailure | undefined {
  let next = error;
  for (let depth = 0; depth < causesMax && next instanceof Error; depth++) {
    if (next instanceof EgressFailure) {
      return next;
    }
    next = next.cause;
  }
  return undefined;
}

const causesMax = 8;
