// Waits until an exchange has finished its turn; it follows the log like any reader.

import { type TailSource, tail } from "../../engine/log/tail.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";

/** The maximum wait. It is shorter than the maximum time of any call, so that the caller gets a TIMEOUT with its reason. */
const waitMs = 50_000;

/** Dependencies of `untilTurnEnds`. */
export interface TurnWait extends TailSource {
  readonly clock: Clock;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
}

/**
 * Waits until, after a position in its log, the run waits for its person or has ended. `caller` aborts when the caller leaves.
 * @throws Fault TIMEOUT with `words` when that takes too long for one call.
 * @throws Fault RESUME when this replica stops.
 */
export async function untilTurnEnds(
  { db, broadcaster, clock, drain }: TurnWait,
  { runId, after, caller, words }: { runId: string; after: number; caller: AbortSignal; words: string },
): Promise<void> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  using _leaving = onAbort(caller, stop);
  using _draining = onAbort(drain, stop);
  void clock.sleep(waitMs, done.signal).then(stop);
  try {
    if (!caller.aborted && !drain.aborted) {
      for await (const entries of tail({ db, broadcaster }, { runId, after, signal: done.signal })) {
        if (entries.some(({ terminal, payloadCase }) => terminal || payloadCase === "runWaiting")) {
          return;
        }
      }
      // The run had already ended.
      if (!done.signal.aborted) {
        return;
      }
    }
  } finally {
    done.abort(over);
  }
  caller.throwIfAborted();
  throw drain.aborted ? new Fault("RESUME", `this replica is stopping; ${words}`) : new Fault("TIMEOUT", words);
}
