// When a command that runs is to end before its time: at once when its run is to end, a while later when its replica is to go,
// since a command that was cut off is not run again.

import type { RunContext } from "../../../engine/runs/driver.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";

/** Within the time that replicas have to go (`server.drain_seconds`). */
const handOnGraceMs = 15_000;

/** How long the driver may go on after it was told to stop: the command's time and what it takes to note its end. */
export const stopGraceMs = handOnGraceMs + 3_000;

export interface CommandSignal extends Disposable {
  readonly signal: AbortSignal;
}

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
