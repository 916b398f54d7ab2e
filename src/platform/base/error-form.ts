// The form of error bodies over REST. A protocol whose document describes its own errors brings a form for them.

import type { Code } from "@connectrpc/connect";
import type { ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import type { FieldViolation } from "./fault.ts";

/** An error as REST reports it. */
export interface Failure {
  readonly httpStatus: number;
  readonly code: Code;
  readonly message: string;
  readonly reason?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterSeconds?: number;
}

/** Writes the errors of the methods whose options name its `errorBody`. */
export interface ErrorPrinter {
  readonly errorBody: ErrorBody;
  /** Returns the body. `reason` is the reason of the failure, or the name of its gRPC code without one. */
  readonly print: (failure: Failure, reason: string) => object;
  /** Returns the HTTP status; undefined where the reason's own status applies. */
  readonly statusOf?: (failure: Failure) => number | undefined;
}

/** The form of a protocol's error bodies. */
export interface ErrorForm extends ErrorPrinter {
  /** The name of the body in /openapi.json. */
  readonly name: string;
  /** The JSON schema of the body. */
  readonly schema: Readonly<Record<string, unknown>>;
}
