// Describes failures of the service as errors of ACP, each with its cause and its fix.

import { RequestError } from "@agentclientprotocol/sdk";
import { Code, ConnectError } from "@connectrpc/connect";
import { reasonOf } from "../connect.ts";
import { explain } from "../failure.ts";

/** Does the work of a request. Throws RequestError for every failure. */
export async function answering<T>(work: () => Promise<T>, sessionId?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RequestError ? error : refusalOf(error, sessionId);
  }
}

/** Returns the error of an invalid request. The message says what to do. */
export function invalid(message: string): RequestError {
  return new RequestError(invalidParams, message, { reason: "INVALID_ARGUMENT" });
}

function refusalOf(failure: unknown, sessionId: string | undefined): RequestError {
  const { error, stack: _, request_id: requestId, error_code: errorCode, ...rest } = explain(failure);
  // ACP writes its members so.
  const data = { ...rest, ...(requestId && { requestId }), ...(errorCode && { errorCode }) };
  const message = data.fix === undefined ? error : `${error}: ${data.fix}`;
  const session = reasonOf(failure) === "SESSION_NOT_FOUND" ? { sessionId } : {};
  return new RequestError(codeOf(failure), message, { ...data, ...session });
}

const invalidParams = -32_602;
const internalError = -32_603;
const authRequired = -32_000;
const notFound = -32_002;

const codes: ReadonlyMap<Code, number> = new Map([
  [Code.InvalidArgument, invalidParams],
  [Code.OutOfRange, invalidParams],
  [Code.Unauthenticated, authRequired],
  [Code.NotFound, notFound],
]);

function codeOf(failure: unknown): number {
  return failure instanceof ConnectError ? (codes.get(failure.code) ?? internalError) : internalError;
}
