// The error of all calls: the code of gRPC, and what the service says about the failure.

import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";

/** The name of a gRPC code. */
export type RunnelCode = (typeof names)[Code];

/** A refused field: `field` is its path in the request. */
export interface Violation {
  readonly field: string;
  readonly description: string;
}

/** What an error tells besides its message. */
export interface RunnelErrorOptions {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The error that every call of this package throws. */
export class RunnelError extends Error {
  override readonly name = "RunnelError";
  readonly code: RunnelCode;
  /** The reason of the service, such as `RUN_NOT_FOUND`; empty when something else failed. Programs decide by code and reason. */
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that the service refused. */
  readonly violations: readonly Violation[];
  /** When the service wants the next call at the earliest, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: RunnelCode, message: string, options: RunnelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason ?? "";
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Returns any error of a call as a RunnelError. */
  static from(error: unknown): RunnelError {
    if (error instanceof RunnelError) {
      return error;
    }
    const failure = ConnectError.from(error);
    const [info] = failure.findDetails(ErrorInfoSchema);
    const violations = failure
      .findDetails(BadRequestSchema)
      .flatMap(({ fieldViolations }) => fieldViolations.map(({ field, description }) => ({ field, description })));
    return new RunnelError(names[failure.code], failure.rawMessage, {
      reason: info?.reason ?? "",
      metadata: { ...info?.metadata },
      violations,
      retryAfterMs: readRetryAfterMs(failure),
      cause: error,
    });
  }
}

/** Returns how long the service wants the caller to wait, in milliseconds. */
export function readRetryAfterMs(error: unknown): number | undefined {
  const [info] = ConnectError.from(error).findDetails(RetryInfoSchema);
  const delay = info?.retryDelay;
  return delay && Number(delay.seconds) * 1_000 + Math.ceil(delay.nanos / 1_000_000);
}

const names = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "UNKNOWN",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "OUT_OF_RANGE",
  [Code.Unimplemented]: "UNIMPLEMENTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "DATA_LOSS",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
} as const satisfies Record<Code, string>;
