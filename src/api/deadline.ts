// Limits how long a unary call lasts, even while its handler waits. The caller gets an answer when its own deadline expires,
// when it leaves, or after a minute. The work of the handler may still take effect. Calls of runners to their host have their
// own timeouts, which the host enforces.

import type { Interceptor } from "@connectrpc/connect";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../platform/base/access.ts";
import type { Clock } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";
import { TimeLimit } from "../platform/base/time-limit.ts";

/** The maximum time of a unary call: the limit of the Agent Runner document for everything but its stream. */
export const unaryTimeoutMs = 60_000;

/** Returns the interceptor that ends a unary call with TIMEOUT after 60 s. Streams and calls of runners pass through. */
export function createDeadlineInterceptor(clock: Clock): Interceptor {
  const limit = new TimeLimit(clock, unaryTimeoutMs);
  return (next) => async (request) => {
    if (request.stream || accessOf(request.method) === Access.RUN) {
      return await next(request);
    }
    const { signal } = request;
    const over = Promise.withResolvers<never>();
    const leave = (): void => over.reject(signal.reason);
    const stop = limit.watch(() => over.reject(new Fault("TIMEOUT", `no answer within ${unaryTimeoutMs / 1_000} s`)));
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (signal.aborted) {
        leave();
      }
      return await Promise.race([next(request), over.promise]);
    } finally {
      stop();
      signal.removeEventListener("abort", leave);
    }
  };
}
