// What a caller reads about its own call, so that the suite can compare it with the request.

import { create, type Message } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ConformancePayload_RequestInfo,
  ConformancePayload_RequestInfoSchema,
} from "./gen/connectrpc/conformance/v1/service_pb.js";

export function describeRequests(
  requests: readonly Message[],
  context: HandlerContext,
): ConformancePayload_RequestInfo {
  const timeoutMs = context.timeoutMs();
  return create(ConformancePayload_RequestInfoSchema, {
    requestHeaders: toHeaders(context.requestHeader),
    requests: packRequests(requests, context),
    ...(timeoutMs !== undefined && { timeoutMs: BigInt(timeoutMs) }),
    ...(context.requestMethod === "GET" && {
      connectGetInfo: { queryParams: toHeaders(new URL(context.url).searchParams) },
    }),
  });
}

export function packRequests(requests: readonly Message[], { method }: HandlerContext): Any[] {
  return requests.map((request) => anyPack(method.input, request));
}

function toHeaders(entries: Iterable<[string, string]>): { name: string; value: string[] }[] {
  return [...entries].map(([name, value]) => ({ name, value: [value] }));
}
