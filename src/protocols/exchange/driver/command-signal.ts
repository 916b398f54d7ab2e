// Decides when a running command is aborted early: at once when its run stops, and after a grace period when its replica hands
// the run on. A command that was aborted is not run again.

import type { RunContext } from "../../../engine/runs/driver.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";

/** The grace period. It lies within the time that a replica has to stop (`server.drain_seconds`). */
const handOnGraceMs = 15_000;

/** How long the driver may go on after a stop: the grace period, and the time to store the command's end. */
export const stopGraceMs = handOnGraceMs + 3_000;

/** A signal that is closed on disposal. */
export interface CommandSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Opens the signal that aborts the run's commands. */
export function openCommandSignal({ signal, stopReason }: RunContext, clock: Clock): CommandSignal {
  const stop = new AbortController();
  const closed = new AbortController();
  const onStop = (): void => {
    if (stopReason() !== "handed-on") {
      stop.abort();
      return;
    }
    void clock.sleep(handOnGraceMs, closed.signal).then(() => {
      if (!closed.signal.aborted) {
        stop.abort();
      }
    });
  };
  const listening = onAbort(signal, onStop);
  if (signal.aborted) {
    onStop();
  }
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      listening[Symbol.dispose]();
      closed.abort(over);
    },
  };
}
