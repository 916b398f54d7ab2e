// Waiting for an exchange to have done its part: it follows the log, like any reader.

import { type TailSource, tail } from "../../engine/log/tail.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";

/** Less than what any call may take, so that it is told what it waited for. */
const waitMs = 50_000;

export interface TurnWait extends TailSource {
  readonly clock: Clock;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
}

/**
 * Returns when, after a place in its log, the run waits for its person or has ended. `caller` aborts when nobody waits any
 * more. Throws TIMEOUT with `words` when that takes too long for one call.
 */
export async function untilTurnEnds(
  { db, hub, clock, drain }: TurnWait,
  { runId, after, caller, words }: { runId: string; after: number; caller: AbortSignal; words: string },
): Promise<void> {
  const done = new AbortController();
  const stop = (): void => done.abort();
  using _leaving = onAbort(caller, stop);
  using _draining = onAbort(drain, stop);
  void clock.sleep(waitMs, done.signal).then(stop);
  try {
    if (!caller.aborted && !drain.aborted) {
      for await (const entries of tail({ db, hub }, { runId, after, signal: done.signal })) {
        if (entries.some(({ terminal, payloadCase }) => terminal || payloadCase === "runWaiting")) {
          return;
        }
      }
      // The run had ended before.
      if (!done.signal.aborted) {
        return;
      }
    }
  } finally {
    done.abort(over);
  }
  caller.throwIfAborted();
  throw drain.aborted ? new Fault("RESUME", `this replica stops; ${words}`) : new Fault("TIMEOUT", words);
}
