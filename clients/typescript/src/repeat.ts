// Repeats unary calls that did not get through, where a repetition does nothing twice: reads, and creates with a request id.

import type { Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Interceptor, UnaryRequest } from "@connectrpc/connect";
import { isTransient } from "./is-transient.ts";
import { Backoff, pause } from "./wait.ts";

/** How long a call waits for a service that is away, unless its caller set a deadline. */
const patienceMs = 60_000;

/** Gives creates a request id, and repeats calls until they are answered. */
export const repeatCalls: Interceptor = (next) => async (request) => {
  if (request.stream || !isRepeatable(request)) {
    return await next(request);
  }
  const identified = withRequestId(request);
  const backoff = new Backoff();
  const startMs = performance.now();
  const hasDeadline = timeoutHeaders.some((name) => request.header.has(name));
  for (;;) {
    try {
      return await next(identified);
    } catch (error) {
      const isLate = !hasDeadline && performance.now() - startMs > patienceMs;
      if (request.signal.aborted || isLate || !isTransient(error)) {
        throw error;
      }
      await pause(backoff.next(error), request.signal);
      request.signal.throwIfAborted();
    }
  }
};

/** Transports set one of them for a call with a deadline. */
const timeoutHeaders = ["grpc-timeout", "connect-timeout-ms"];

function isRepeatable({ method }: UnaryRequest): boolean {
  return (
    method.input.field.requestId !== undefined ||
    method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN
  );
}

/** The message may be the caller's own object, so it stays as it is. */
function withRequestId(request: UnaryRequest): UnaryRequest {
  const { requestId } = request.message as { readonly requestId?: string };
  return requestId === ""
    ? { ...request, message: { ...request.message, requestId: crypto.randomUUID() } as Message }
    : request;
}
