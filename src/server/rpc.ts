// gRPC, gRPC-Web and Connect on Node's requests. The one file of the server that knows how connect's handlers are called.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** The handlers by the exact path that calls them. */
export function createRpcTable(handlers: readonly UniversalHandler[]): ReadonlyMap<string, UniversalHandler> {
  return new Map(handlers.map((handler) => [handler.requestPath, handler]));
}

/** `body` is the request's body when it was read already. Rejects when the answer could not be written. */
export async function answerRpc(
  handler: UniversalHandler,
  request: Request,
  response: Response,
  { contextValues, body }: { readonly contextValues: ContextValues; readonly body?: Uint8Array | undefined },
): Promise<void> {
  const call = universalRequestFromNodeRequest(request, response, undefined, contextValues);
  const answer = await handler(body === undefined ? call : { ...call, body: once(body) });
  await universalResponseToNodeResponse(withLegibleMessage(answer), response);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
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
