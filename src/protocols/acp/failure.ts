// How runs of coding agents fail.

import type { FailedEnd } from "../../engine/runs/driver.ts";

/** The outcome of a call that was open when its replica died: that of every tool call. */
export const interruptedCall = "interrupted: the process that ran this call was lost, and the call was not repeated";

/** Returns a failed end. */
export function failed(code: string, error: string): FailedEnd {
  return { kind: "failed", code, error, retryable: false };
}

/** Returns the end of a run whose agent cannot go on after the death of a replica. */
export function turnLost(why: string): FailedEnd {
  return failed(
    "runner.turn_lost",
    `the replica that worked with the coding agent was lost in its turn, and the prompt is not sent twice: ${why}. What the agent had ` +
      "begun may have been done in part: look at the files, then send the message again",
  );
}

/** Only ends the work: the component that stops the run writes the reason. */
export const stopped: FailedEnd = failed("runner.error", "stopped");
