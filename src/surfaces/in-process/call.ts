// Calls a method of the contract in process: messages in, messages out, failures as ConnectError. Access checks, interceptors,
// validation and deadlines are those of every other surface. The only file that knows how connect invokes an implementation,
// which connect may change.

import type { IncomingHttpHeaders } from "node:http";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  createHandlerContext,
  type HandlerContext,
} from "@connectrpc/connect";
import { invokeUnaryImplementation, transformInvokeImplementation } from "@connectrpc/connect/protocol";
import { parseTimeout } from "@connectrpc/connect/protocol-connect";
import { over } from "../../platform/base/clock.ts";
import { untilCredentialEnds } from "../../platform/base/credential-end.ts";
import { callTimeoutMsMax, type LocalMethod } from "../../platform/base/local-methods.ts";

/** The HTTP context of a call. */
export interface CallOptions {
  readonly headers: IncomingHttpHeaders;
  readonly signal: AbortSignal;
  readonly contextValues?: ContextValues | undefined;
}

/** Calls a unary method. Throws the ConnectError of the call. */
export async function callUnary(method: LocalMethod, request: Message, options: CallOptions): Promise<Message> {
  const { implementation, assertAccess, interceptors } = method;
  if (implementation.kind !== "unary") {
    throw new TypeError(`${implementation.method.name} is a stream`);
  }
  const context = openCallContext(implementation.method, options);
  try {
    assertAccess(context.values, implementation.method);
    return await invokeUnaryImplementation(implementation, context, request, [...interceptors]);
  } catch (error) {
    throw toConnectError(error);
  } finally {
    context.abort(over);
  }
}

/** Calls a server-streaming method. Throws the ConnectError that the stream ended with. */
export async function* callStream(
  method: LocalMethod,
  request: Message,
  options: CallOptions,
): AsyncGenerator<Message, void> {
  const { implementation, assertAccess, interceptors } = method;
  const context = openCallContext(implementation.method, options);
  try {
    assertAccess(context.values, implementation.method);
    yield* transformInvokeImplementation(implementation, context, [...interceptors])(once(request));
  } catch (error) {
    throw toConnectError(error);
  } finally {
    context.abort(over);
  }
}

const timeoutHeader = "connect-timeout-ms";

/**
 * Opens the context of a call. Abort it when the call is over. Throws the ConnectError of an invalid timeout. No handler reads
 * headers, so the context has none.
 */
export function openCallContext(
  method: DescMethod,
  { headers, signal, contextValues = createContextValues() }: CallOptions,
): HandlerContext & { readonly abort: (reason: unknown) => void } {
  const { timeoutMs, error } = parseTimeout(headers[timeoutHeader]?.toString() ?? null, callTimeoutMsMax);
  if (error !== undefined) {
    throw error;
  }
  return createHandlerContext({
    service: method.parent,
    method,
    requestMethod: "POST",
    protocolName: "rest",
    url: `http://localhost/${method.parent.typeName}/${method.name}`,
    requestSignal: method.methodKind === "unary" ? signal : untilCredentialEnds(contextValues, signal),
    contextValues,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

/** A failure without a code has a cause that stays hidden. */
function toConnectError(error: unknown): ConnectError {
  return error instanceof ConnectError
    ? error
    : new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
