// No unary call lasts longer than it may, whatever its handler waits for: its caller gets an answer when its own deadline
// is over, when it has left, or after a minute. What the handler was doing may still take effect. What runners ask of their
// host has times of its own, which the host watches.

import type { Interceptor } from "@connectrpc/connect";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../platform/base/access.ts";
import type { Clock } from "../platform/base/clock.ts";
import { Fault } from "../platform/base/fault.ts";
import { TimeLimit } from "../platform/base/time-limit.ts";

/** As the Agent Runner document's service has it for everything but its stream. */
const unaryTimeoutMs = 60_000;

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
