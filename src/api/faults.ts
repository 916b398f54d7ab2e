// Converts errors of handlers to Connect errors. They carry google.rpc details and nothing internal.

import type { DescMethod } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Fault } from "../platform/base/fault.ts";
import { describeOutage, isLockTimeout, isOutage } from "../platform/database/errors.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { ServicePart } from "./protocol.ts";

const domain = "runnel.dev";
/** Some clients refuse trailers near 8 KB, so the texts of an error stay below half of that. */
const messageCharsMax = 1_000;
const violationsMax = 8;
const violationCharsMax = 150;

/** Returns the interceptor that maps every error of a handler, also in the middle of a stream. */
export function createFaultInterceptor(map: ErrorMapper): Interceptor {
  return (next) => async (request) => {
    // A caller that left, or whose deadline has expired, gets the reason that connect gives.
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

/** Converts an error of a method to the error that its caller gets. */
export type ErrorMapper = (error: unknown, method: DescMethod) => ConnectError;

/** Returns a mapper that logs unexpected errors. The caller gets INTERNAL or DATABASE_UNAVAILABLE without the cause. */
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
      new Fault("BUSY", "another request is changing the same resource: try again", { retryAfterMs: 1_000 }),
    );
  }
  events.requestFailed({ method, error });
  if (isOutage(error)) {
    return faultToConnectError(new Fault("DATABASE_UNAVAILABLE", describeOutage(error), { retryAfterMs: 1_000 }));
  }
  return faultToConnectError(new Fault("INTERNAL", "an internal error occurred: see the log of the service"));
}

/** Converts a fault. The error keeps the fault as its cause, which surfaces of this process read; no transport sends it. */
export function faultToConnectError(fault: Fault): ConnectError {
  const { reason, code, message, metadata, violations, retryAfterMs } = fault;
  const fieldViolations = violations.slice(0, violationsMax).map(({ field, description }) => ({
    field: shorten(field, violationCharsMax),
    description: shorten(description, violationCharsMax),
  }));
  const details = [
    { desc: ErrorInfoSchema, value: { reason, domain, metadata: { ...metadata } } },
    ...(violations.length > 0 ? [{ desc: BadRequestSchema, value: { fieldViolations } }] : []),
    ...(retryAfterMs === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(Math.ceil(retryAfterMs)) } }]),
  ];
  return new ConnectError(shorten(message, messageCharsMax), code, undefined, details, fault);
}

/** Cuts a text. A surrogate pair split at the cut could not be encoded, and the caller would never get an answer. */
function shorten(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed();
}
