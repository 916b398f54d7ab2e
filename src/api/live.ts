// Streams that follow a source. They open at once, send heartbeats while nothing happens, and end in a way that shows a reader
// whether it has everything.

import { type Clock, over } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";
import { Interrupt, interrupted } from "../platform/base/interrupt.ts";
import { onAbort } from "../platform/base/on-abort.ts";
import { isOutage } from "../platform/database/errors.ts";

/** The interval of heartbeats. Proxies cut a silent connection after 60 s at the latest. */
const heartbeatMs = 15_000;
/** The maximum age of a stream, so that load spreads over new replicas. Its readers resume. */
const ageMaxMs = 3_600_000;
/** The retry delay after a database outage, so that the database is back before the readers are. */
const outageRetryMs = 1_000;

/** The source of a live stream, and the signals that end it. */
export interface LiveStream<T> {
  /** Opens the source. The signal aborts when the stream is over. */
  readonly open: (signal: AbortSignal) => AsyncGenerator<T>;
  /** Returns a message without content, the heartbeat. */
  readonly empty: () => T;
  /** Returns the last message before a drain ends the stream. Unset means no such message. */
  readonly farewell?: () => T;
  readonly clock: Clock;
  /** Aborts when the reader leaves or its deadline expires. */
  readonly reader: AbortSignal;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
}

/**
 * Yields an empty message first, then the messages of the source, with empty messages as heartbeats. Returns only when the
 * source ends.
 * @throws Fault RESUME after a drain, at the maximum age, and when the source fails because the database is away.
 */
export async function* live<T>({ open, empty, farewell, clock, reader, drain }: LiveStream<T>): AsyncGenerator<T> {
  const interrupt = new Interrupt();
  const fire = (): void => interrupt.fire();
  const done = new AbortController();
  using _leaving = onAbort(reader, fire);
  using _draining = onAbort(drain, fire);
  // A signal that has already aborted fires no event.
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
    // The signal ends the source, so there is nothing to wait for.
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
