// Streams that follow something: opened at once, kept alive while nothing happens, and ended in a way that tells a
// reader whether it has everything.

import { type Clock, over } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";
import { Interrupt, interrupted } from "../platform/base/interrupt.ts";
import { onAbort } from "../platform/base/on-abort.ts";
import { isOutage } from "../platform/database/errors.ts";

/** Proxies cut a silent connection after 60 s at the latest. */
const heartbeatMs = 15_000;
/** Streams are ended at this age, so that load spreads over new replicas; their readers resume. */
const ageMaxMs = 3_600_000;
/** A database that was away is to come back before its readers do. */
const outageRetryMs = 1_000;

export interface LiveStream<T> {
  /** Starts what is followed; the signal aborts when nobody follows any more. */
  readonly open: (signal: AbortSignal) => AsyncGenerator<T>;
  /** A message that says nothing. */
  readonly empty: () => T;
  /** The last message before a drain, where there is one. */
  readonly farewell?: () => T;
  readonly clock: Clock;
  /** Aborts when the reader leaves or its deadline comes. */
  readonly reader: AbortSignal;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
}

/**
 * Yields what the source yields, after an empty message and with more of them in between. Ends only when the source
 * does: a drain, old age, and a database that is away when it is asked end it with RESUME.
 */
export async function* live<T>({ open, empty, farewell, clock, reader, drain }: LiveStream<T>): AsyncGenerator<T> {
  const interrupt = new Interrupt();
  const fire = (): void => interrupt.fire();
  const done = new AbortController();
  using _leaving = onAbort(reader, fire);
  using _draining = onAbort(drain, fire);
  // One that aborted before does not tell.
  if (reader.aborted || drain.aborted) {
    fire();
  }
  const startedMs = clock.monotonicMs();
  void beat(clock, fire, done.signal);
  const source = open(done.signal);
  try {
    yield empty();
    let next = source.next();
    for (;;) {
      const event = await interrupt.guard(next);
      if (reader.aborted) {
        throw reader.reason;
      }
      if (drain.aborted) {
        if (farewell !== undefined) {
          yield farewell();
        }
        throw resume(0);
      }
      if (event === interrupted) {
        if (clock.monotonicMs() - startedMs >= ageMaxMs) {
          throw resume(0);
        }
        yield empty();
        continue;
      }
      if (event.done === true) {
        return;
      }
      yield event.value;
      next = source.next();
    }
  } catch (error) {
    throw isOutage(error) ? resume(outageRetryMs, error) : error;
  } finally {
    done.abort(over);
    // The source ends by the signal; it does not have to be waited for.
    void source.return(undefined).catch(() => {});
  }
}

async function beat(clock: Clock, fire: () => void, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await clock.sleep(heartbeatMs, done);
    fire();
  }
}

function resume(retryAfterMs: number, cause?: unknown): Fault {
  return new Fault("RESUME", "the stream was ended by the service: call again with the last position as after", {
    retryAfterMs,
    cause,
  });
}
