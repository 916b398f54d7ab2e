// The errors of A2A: one catalogue, and what each binding writes of it. Failures that A2A has no name for keep the reason and the
// domain of the contract.

import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { internalError, invalidParams, invalidRequest, RpcError } from "../in-process/json-rpc.ts";
import { codeNames, failureHeaders } from "../rest/errors.ts";
import { describeFailure, isReason, isUnexpected } from "../rest/failure.ts";

/** A name of A2A 1.0.1 §5.4, with its code in JSON-RPC and in gRPC, and its HTTP status. */
const catalogue = {
  TASK_NOT_FOUND: [-32001, Code.NotFound, 404],
  TASK_NOT_CANCELABLE: [-32002, Code.FailedPrecondition, 400],
  UNSUPPORTED_OPERATION: [-32004, Code.FailedPrecondition, 400],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, Code.InvalidArgument, 400],
  VERSION_NOT_SUPPORTED: [-32009, Code.FailedPrecondition, 400],
} as const satisfies Readonly<Record<string, readonly [rpcCode: number, code: Code, httpStatus: number]>>;

/** The domain of these reasons. */
const domain = "a2a-protocol.org";
/** The domain of the contract's reasons. */
const ownDomain = "runnel.dev";

/** The refusal of a request, with a name of A2A. */
export class A2aError extends Error {
  override readonly name = "A2aError";
  readonly reason: keyof typeof catalogue;

  constructor(reason: keyof typeof catalogue, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The refusal of a field, named as in the JSON of the request. */
export class InvalidField extends Error {
  override readonly name = "InvalidField";
  readonly field: string;
  readonly problem: string;

  constructor(field: string, problem: string) {
    super(`invalid ${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/** Returns the refusal of a task that the caller does not have. */
export function unknownTask(id: string): A2aError {
  return new A2aError("TASK_NOT_FOUND", `there is no task ${JSON.stringify(id)}`);
}

/** An error as all bindings see it. */
export interface Refusal {
  readonly rpcCode: number;
  readonly code: Code;
  readonly httpStatus: number;
  readonly message: string;
  /** Undefined for a refusal of the envelope of JSON-RPC. */
  readonly info: { readonly reason: string; readonly domain: string } | undefined;
  readonly violations: readonly { readonly field: string; readonly description: string }[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Converts every error. */
export function refusalOf(error: unknown): Refusal {
  const { message } = error instanceof Error ? error : { message: "" };
  if (error instanceof A2aError) {
    const [rpcCode, code, httpStatus] = catalogue[error.reason];
    const info = { reason: error.reason, domain };
    return { rpcCode, code, httpStatus, message, info, violations: [], headers: {} };
  }
  if (error instanceof InvalidField) {
    const violations = [{ field: error.field, description: error.problem }];
    const info = { reason: "INVALID_ARGUMENT", domain: ownDomain };
    return { ...invalid, message, info, violations, headers: {} };
  }
  if (error instanceof RpcError) {
    return { ...invalid, rpcCode: error.code, message, info: undefined, violations: [], headers: {} };
  }
  const failure = describeFailure(error);
  const { code, httpStatus, reason = codeNames[failure.code], violations } = failure;
  const rpcCode =
    code === Code.InvalidArgument
      ? invalidParams
      : httpStatus >= 400 && httpStatus < 500
        ? invalidRequest
        : internalError;
  const text = isReason(error, "RESUME") ? "the service stops: subscribe to the task again" : failure.message;
  const challenge = code === Code.Unauthenticated ? { "www-authenticate": 'Bearer realm="runnel"' } : {};
  const headers = { ...failureHeaders(failure), ...challenge };
  return { rpcCode, code, httpStatus, message: text, info: { reason, domain: ownDomain }, violations, headers };
}

const invalid = { rpcCode: invalidParams, code: Code.InvalidArgument, httpStatus: 400 };

/** Returns the error of a call over gRPC. */
export function toConnectError(error: unknown): ConnectError {
  const { code, message, info, violations } = refusalOf(error);
  return new ConnectError(message, code, undefined, [
    ...(info === undefined ? [] : [{ desc: ErrorInfoSchema, value: info }]),
    ...(violations.length === 0 ? [] : [{ desc: BadRequestSchema, value: { fieldViolations: [...violations] } }]),
  ]);
}

/** Returns the error of an answer of JSON-RPC. */
export function rpcErrorOf({ rpcCode: code, message, ...refusal }: Refusal): object {
  const details = detailsOf(refusal);
  return { code, message, ...(details.length > 0 && { data: details }) };
}

/** Returns the body of an error of HTTP+JSON. */
export function httpErrorOf({ code, httpStatus, message, ...refusal }: Refusal, status = httpStatus): object {
  return { error: { code: status, status: codeNames[code], message, details: detailsOf(refusal) } };
}

/** Returns whether the service must report an error: it has a cause that the caller does not see. */
export function isDefect(error: unknown): boolean {
  return (
    !(error instanceof A2aError || error instanceof InvalidField || error instanceof RpcError) && isUnexpected(error)
  );
}

function detailsOf({ info, violations }: Pick<Refusal, "info" | "violations">): readonly object[] {
  return [
    ...(info === undefined ? [] : [{ "@type": `${types}.ErrorInfo`, ...info }]),
    ...(violations.length === 0 ? [] : [{ "@type": `${types}.BadRequest`, fieldViolations: violations }]),
  ];
}

const types = "type.googleapis.com/google.rpc";
