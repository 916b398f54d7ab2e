// Messages of JSON-RPC 2.0: reading them, and printing answers.

import { isObject } from "../../platform/base/json/parse-object.ts";
import { assertJsonType, assertUncompressed, decodeBody } from "../rest/body.ts";
import { describeFailure, isReason, isUnexpected } from "../rest/failure.ts";
import type { RestRequest } from "../rest/respond.ts";

/** The id of a request, chosen by its sender. */
export type RpcId = string | number;

/** The parameters of a message. */
export type Params = Readonly<Record<string, unknown>>;

/** A message from a client. */
export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: Params }
  | { readonly kind: "notification"; readonly method: string; readonly params: Params }
  | { readonly kind: "response"; readonly id: RpcId; readonly result: unknown };

export const invalidRequest = -32600;
export const methodNotFound = -32601;
export const invalidParams = -32602;
export const internalError = -32603;
export const parseError = -32700;

/** The refusal of a message. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly status: number;
  readonly data: unknown;

  constructor(code: number, message: string, { status = 400, data }: { status?: number; data?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** Returns the refusal of a wrong parameter. Clients read it from an answer with status 200. */
export function wrongParam(name: string, problem: string): RpcError {
  return new RpcError(invalidParams, `${name}: ${problem}`, { status: 200 });
}

/** Converts every error. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) {
    return error;
  }
  if (isReason(error, "RESUME")) {
    return new RpcError(internalError, "the service stops: repeat the request", { status: 503 });
  }
  const { message, httpStatus, reason } = describeFailure(error);
  const code = httpStatus >= 400 && httpStatus < 500 ? invalidRequest : internalError;
  return new RpcError(code, message, { status: httpStatus, ...(reason !== undefined && { data: { reason } }) });
}

/** Reads the body of a POST. Throws RpcError for a body that is no message, and Fault for one that is no JSON. */
export function readMessage(request: RestRequest, body: Uint8Array | undefined): RpcMessage {
  assertJsonType(request, { takesText: false, takesCurl: false });
  assertUncompressed(request);
  return parseMessage(decodeBody(body ?? new Uint8Array(), false));
}

/** Reads a message. Throws RpcError. */
export function parseMessage(text: string): RpcMessage {
  const value = parse(text);
  if (!isObject(value) || value.jsonrpc !== "2.0") {
    throw new RpcError(invalidRequest, 'the body must be one JSON-RPC message with "jsonrpc": "2.0"');
  }
  const { id, method } = value;
  // Programs in Go and Java write null for what they leave out.
  const params = value.params ?? {};
  if (method === undefined && isId(id)) {
    return { kind: "response", id, result: value.result };
  }
  if (typeof method !== "string" || !isObject(params) || (id !== undefined && !isId(id))) {
    throw new RpcError(
      invalidRequest,
      "a message has a method, params that are an object, and an id that is a text or a number",
    );
  }
  return id === undefined ? { kind: "notification", method, params } : { kind: "request", id, method, params };
}

/** Returns the id of a request that was refused before its message was read; null when it has none. */
export function findId(body: Uint8Array | undefined): RpcId | null {
  try {
    const value: unknown = JSON.parse(decodeBody(body ?? new Uint8Array(), true));
    return isObject(value) && isId(value.id) ? value.id : null;
  } catch {
    return null;
  }
}

/** Returns the answer to a request. */
export function resultMessage(id: RpcId, result: object): object {
  return { jsonrpc: "2.0", id, result };
}

/** Returns the refusal of a request. */
export function errorMessage(id: RpcId | null, { code, message, data }: RpcError): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** Prints the answer to a request. */
export function printResult(id: RpcId, result: object): string {
  return JSON.stringify(resultMessage(id, result));
}

/** Prints the refusal of a request. */
export function printError(id: RpcId | null, error: RpcError): string {
  return JSON.stringify(errorMessage(id, error));
}

/** Prints a message that is no answer. */
export function printNotification(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** Returns a text parameter. Half of a surrogate pair becomes U+FFFD: it cannot be stored. */
export function requireText(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== "string" || value === "") {
    throw wrongParam(name, "must be a text");
  }
  return value.toWellFormed();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RpcError(parseError, error instanceof Error ? error.message : String(error));
  }
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" ? value.length <= idCharsMax : Number.isSafeInteger(value);
}

/** An id lies with its run. */
const idCharsMax = 256;

/** Returns whether the service must report an error: it has a cause that the caller does not see. */
export function isDefect(error: unknown): boolean {
  return !(error instanceof RpcError) && isUnexpected(error);
}
