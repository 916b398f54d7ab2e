// Unary and IdempotentUnary: one request, one answer or error, as the request itself asks.

import type { HandlerContext } from "@connectrpc/connect";
import { setMetadata, toError, waitDelay } from "./definition.ts";
import type {
  ConformancePayload_RequestInfo,
  IdempotentUnaryRequest,
  UnaryRequest,
  UnaryResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.js";
import { describeRequests } from "./request-info.ts";

export interface Answer {
  readonly payload: { readonly data?: Uint8Array; readonly requestInfo: ConformancePayload_RequestInfo };
}

export async function answerUnary(
  request: UnaryRequest | IdempotentUnaryRequest,
  context: HandlerContext,
): Promise<Answer> {
  return await answerOnce(request.responseDefinition, describeRequests([request], context), context);
}

/**
 * Returns what a definition asks for, for every method with a single answer. Without a definition, the answer describes the
 * request.
 */
export async function answerOnce(
  definition: UnaryResponseDefinition | undefined,
  requestInfo: ConformancePayload_RequestInfo,
  context: HandlerContext,
): Promise<Answer> {
  if (definition === undefined) {
    return { payload: { requestInfo } };
  }
  setMetadata(definition, context);
  await waitDelay(definition, context);
  const { response } = definition;
  if (response.case === "error") {
    throw toError(response.value, requestInfo);
  }
  return { payload: { requestInfo, ...(response.value && { data: response.value }) } };
}
