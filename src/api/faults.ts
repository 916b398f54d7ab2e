// How faults leave the services: as Connect errors that carry google.rpc details and nothing internal.

import type { DescMethod } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Fault, reasons } from "../platform/base/fault.ts";
import { isLockTimeout, isOutage } from "../platform/database/errors.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { ServicePart } from "./protocol.ts";

const domain = "runnel.dev";
/** Some clients refuse trailers near 8 KB, so what a fault says stays below half of that. */
const messageCharsMax = 1_000;
const violationsMax = 8;
const violationCharsMax = 150;

/** Maps whatever a handler throws, also in the middle of a stream. */
export function createFaultInterceptor(map: ErrorMapper): Interceptor {
  return (next) => async (request) => {
    // A caller that left, or whose time is over, gets connect's own reason.
    const toError = (error: unknown): ConnectError =>
      map(request.signal.aborted ? ConnectError.from(request.signal.reason) : error, request.method);
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: mapErrors(response.message, toError) } : response;
    } catch (error) {
      throw toError(error);
    }
  };
}

async function* mapErrors<T>(messages: AsyncIterable<T>, map: (error: unknown) => ConnectError): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw map(error);
  }
}

/** What an error becomes for the caller of a method. */
export type ErrorMapper = (error: unknown, method: DescMethod) => ConnectError;

/** An unexpected error is logged, and its caller learns no more than that. */
export function createErrorMapper(events: Events, parts: readonly ServicePart[]): ErrorMapper {
  const additions = new Map(parts.map(({ service, addDetails }) => [service, addDetails]));
  return (error, method) => {
    const mapped = present(error, method.name, events);
    return additions.get(method.parent)?.(mapped) ?? mapped;
  };
}

function present(error: unknown, method: string, events: Events): ConnectError {
  if (error instanceof Fault) {
    return faultToConnectError(error);
  }
  if (error instanceof ConnectError) {
    return error;
  }
  if (isLockTimeout(error)) {
    return faultToConnectError(
      new Fault("BUSY", "another request works on the same thing: try again", { retryAfterMs: 1_000 }),
    );
  }
  events.requestFailed({ method, error });
  if (isOutage(error)) {
    return faultToConnectError(
      new Fault("DATABASE_UNAVAILABLE", "the database is not reachable", { retryAfterMs: 1_000 }),
    );
  }
  return faultToConnectError(new Fault("INTERNAL", "an internal error occurred; the log of the service has more"));
}

function faultToConnectError({ reason, message, metadata, violations, retryAfterMs }: Fault): ConnectError {
  const fieldViolations = violations.slice(0, violationsMax).map(({ field, description }) => ({
    field: shorten(field, violationCharsMax),
    description: shorten(description, violationCharsMax),
  }));
  return new ConnectError(shorten(message, messageCharsMax), reasons[reason].code, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain, metadata: { ...metadata } } },
    ...(violations.length > 0 ? [{ desc: BadRequestSchema, value: { fieldViolations } }] : []),
    ...(retryAfterMs === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(Math.ceil(retryAfterMs)) } }]),
  ]);
}

/** Half of a character at the cut could not be encoded, and the call would never be answered. */
function shorten(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed();
}
