// gRPC, gRPC-Web and Connect on Node's requests. The one file of the server that knows how connect's handlers are called.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { type Clock, systemClock } from "../base/clock.ts";
import { CallBody } from "./call-body.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

export interface RpcCall {
  readonly contextValues: ContextValues;
  readonly body?: Uint8Array | undefined;
  readonly clock?: Clock;
}

/** Whether nobody will get the answer. */
export function isGone(response: Response): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}

/** The handlers by the exact path that calls them. */
export function createRpcTable(handlers: readonly UniversalHandler[]): ReadonlyMap<string, UniversalHandler> {
  return new Map(handlers.map((handler) => [handler.requestPath, handler]));
}

/** `body` is the request's body when it was read already. Rejects when the answer could not be written. */
export async function answerRpc(
  handler: UniversalHandler,
  request: Request,
  response: Response,
  { contextValues, body, clock = systemClock }: RpcCall,
): Promise<void> {
  const call = universalRequestFromNodeRequest(request, response, undefined, contextValues);
  if (body !== undefined) {
    await send(await handler({ ...call, body: once(body) }), response);
    return;
  }
  const received = new CallBody(request);
  const answer = await begin(await handler({ ...call, body: received }));
  const isSettled = await received.settle(clock);
  if (!isSettled && !("stream" in request)) {
    response.setHeader("connection", "close");
  }
  await send(answer, response);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function send(answer: UniversalServerResponse, response: Response): Promise<void> {
  await universalResponseToNodeResponse(withLegibleMessage(answer), response);
}

/** The same answer, once its first chunk is there or has failed: by then its handler has read what it wants to read. */
async function begin(answer: UniversalServerResponse): Promise<UniversalServerResponse> {
  const source = answer.body?.[Symbol.asyncIterator]();
  if (source === undefined) {
    return answer;
  }
  let first: Promise<IteratorResult<Uint8Array>> | undefined = source.next();
  await first.catch(() => {});
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => {
      const next = first ?? source.next();
      first = undefined;
      return next;
    },
    ...(source.return && { return: source.return.bind(source) }),
    ...(source.throw && { throw: source.throw.bind(source) }),
  };
  return { ...answer, body: { [Symbol.asyncIterator]: () => iterator } };
}

/**
 * Error texts go out as gRPC escapes them: connect escapes punctuation too, and grpc-js would show `%3A` for a colon. The
 * trailer is filled while the body is sent, so it is looked at only when it is asked for.
 */
function withLegibleMessage(answer: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answer;
  if (trailer === undefined) {
    return answer;
  }
  return {
    ...answer,
    get trailer() {
      const message = trailer.get("grpc-message");
      if (message === null) {
        return trailer;
      }
      const legible = new Headers(trailer);
      legible.set("grpc-message", encodeURI(decodeURIComponent(message)));
      return legible;
    },
  };
}
