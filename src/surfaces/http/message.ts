// Requests and responses of both versions of HTTP, as Node has them.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of HTTP/1.1 or HTTP/2. */
export type Request = IncomingMessage | Http2ServerRequest;
/** A response of HTTP/1.1 or HTTP/2. */
export type Response = ServerResponse | Http2ServerResponse;

/** Whether the client has left, so that it cannot get the answer. */
export function isGone(response: Response): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}
