// No unary call lasts longer than it may, whatever its handler waits for: its caller gets an answer when its own deadline
// is over, when it has left, or after a minute. What the handler was doing may still take effect.

import type { Interceptor } from "@connectrpc/connect";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";

/** As the Agent Runner document's service has it for everything but its stream. */
const unaryTimeoutMs = 60_000;

export function createDeadlineInterceptor(clock: Clock): Interceptor {
  return (next) => async (request) => {
    if (request.stream) {
      return await next(request);
    }
    const { signal } = request;
    const done = new AbortController();
    const over = clock.sleep(unaryTimeoutMs, AbortSignal.any([done.signal, signal])).then(() => {
      throw signal.aborted ? signal.reason : new Fault("TIMEOUT", `no answer within ${unaryTimeoutMs / 1_000} s`);
    });
    // After the answer it is over too, and nobody waits for it.
    over.catch(() => {});
    try {
      return await Promise.race([next(request), over]);
    } finally {
      done.abort(over);
    }
  };
}
