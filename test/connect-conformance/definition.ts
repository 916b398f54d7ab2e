// What the suite's requests have in common: metadata, a delay, an error.

import { type Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { systemClock } from "../../src/platform/base/clock.ts";
import {
  type ConformancePayload_RequestInfo,
  ConformancePayload_RequestInfoSchema,
  type Error as ErrorDefinition,
  type Header,
  type StreamResponseDefinition,
  type UnaryResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.js";

type Definition = UnaryResponseDefinition | StreamResponseDefinition;

export function setMetadata({ responseHeaders, responseTrailers }: Definition, context: HandlerContext): void {
  append(responseHeaders, context.responseHeader);
  append(responseTrailers, context.responseTrailer);
}

function append(from: readonly Header[], to: Headers): void {
  for (const { name, value: values } of from) {
    for (const value of values) {
      to.append(name, value);
    }
  }
}

/** Throws the reason of the abort when the call ends before the delay. */
export async function waitDelay({ responseDelayMs }: Definition, { signal }: HandlerContext): Promise<void> {
  await systemClock.sleep(responseDelayMs, signal);
  signal.throwIfAborted();
}

/** `requestInfo` is for an error that is the whole answer. */
export function toError(
  { code, message, details }: ErrorDefinition,
  requestInfo: ConformancePayload_RequestInfo | undefined,
): ConnectError {
  // Both enumerations use the numbers of gRPC.
  const error = new ConnectError(message ?? "", code as number as Code);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value }));
  if (requestInfo !== undefined) {
    error.details.push({ desc: ConformancePayload_RequestInfoSchema, value: requestInfo });
  }
  return error;
}
