// Streams that follow something: opened at once, kept alive while nothing happens, and ended in a way that tells a
// reader whether it has everything.

import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";

/** Proxies cut a silent connection after 60 s at the latest. */
const heartbeatMs = 15_000;
/** Streams are ended at this age, so that load spreads over new replicas; their readers resume. */
const ageMaxMs = 3_600_000;

export interface LiveStream<T> {
  readonly source: AsyncGenerator<T>;
  /** A message that says nothing. */
  readonly empty: () => T;
  readonly clock: Clock;
  /** Aborts when the reader leaves or its deadline comes. */
  readonly reader: AbortSignal;
  /** Aborts when this replica stops serving. */
  readonly drain: AbortSignal;
}

/**
 * Yields what the source yields, after an empty message and with more of them in between. Ends only when the source
 * does: a drain and old age end it with RESUME.
 */
export async function* live<T>({ source, empty, clock, reader, drain }: LiveStream<T>): AsyncGenerator<T> {
  const done = new AbortController();
  const stop = AbortSignal.any([reader, drain, done.signal]);
  const aged = clock.sleep(ageMaxMs, stop).then((): Interruption => "aged");
  let beat = nextBeat(clock, stop);
  try {
    yield empty();
    let next = source.next();
    for (;;) {
      const event = await Promise.race([next, beat, aged]);
      if (reader.aborted) throw reader.reason;
      if (drain.aborted || event === "aged") throw resume();
      if (event === "beat") {
        yield empty();
        beat = nextBeat(clock, stop);
        continue;
      }
      if (event.done === true) return;
      yield event.value;
      next = source.next();
    }
  } finally {
    done.abort();
    // The source waits on the same signals, so its end does not have to be waited for.
    void source.return(undefined).catch(() => {});
  }
}

type Interruption = "beat" | "aged";

async function nextBeat(clock: Clock, stop: AbortSignal): Promise<Interruption> {
  await clock.sleep(heartbeatMs, stop);
  return "beat";
}

function resume(): Fault {
  return new Fault("RESUME", "the stream was ended by the service: call again with the last position as after", {
    retryAfterMs: 0,
  });
}
