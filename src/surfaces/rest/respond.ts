// Writes answers with backpressure: a whole body, a failure, or pieces of a stream. Works on HTTP/1.1 and HTTP/2.

import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Writable } from "node:stream";
import {
  abandonsRequest,
  type ErrorStyle,
  endsInNewline,
  failureHeaders,
  printFailure,
  statusOfFailure,
} from "./errors.ts";
import { describeFailure } from "./failure.ts";

/** A request of HTTP/1.1 or HTTP/2. */
export type RestRequest = IncomingMessage | Http2ServerRequest;
/** A response of HTTP/1.1 or HTTP/2. */
export type RestResponse = ServerResponse | Http2ServerResponse;

type ResponseHeaders = Readonly<Record<string, string>>;

/** Sends JSON with a final newline. */
export function sendJson(
  response: RestResponse,
  httpStatus: number,
  json: string,
  headers: ResponseHeaders = {},
): void {
  sendBody(response, httpStatus, `${json}\n`, { ...headers, "content-type": jsonType });
}

/** Sends a whole body with its length. For status 204 it sends no body. */
export function sendBody(
  response: RestResponse,
  httpStatus: number,
  body: string | Uint8Array,
  headers: ResponseHeaders,
): void {
  if (httpStatus === 204) {
    sendEmpty(response, headers);
    return;
  }
  setHead(response, httpStatus, { ...headers, "content-length": String(Buffer.byteLength(body)) });
  endStream(response, body);
}

/** Sends plain text as it is. */
export function sendText(
  response: RestResponse,
  httpStatus: number,
  text: string,
  headers: ResponseHeaders = {},
): void {
  sendBody(response, httpStatus, text, {
    ...headers,
    "content-type": "text/plain; charset=utf-8",
  });
}

/** Whether the client has left. The HTTP/2 response itself never shows it, only its stream. */
export function isGone(response: RestResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}

/** Answers 204. */
export function sendEmpty(response: RestResponse, { "content-type": _, ...headers }: ResponseHeaders = {}): void {
  setHead(response, 204, headers);
  endStream(response, "");
}

/** Sends an error. Does nothing when the head is already sent or the client has left. */
export function sendFailure(response: RestResponse, error: unknown, style: ErrorStyle): void {
  if (response.headersSent || isGone(response)) {
    return;
  }
  const failure = describeFailure(error);
  if (abandonsRequest(failure)) {
    closeAfter(response);
  }
  const body = `${printFailure(failure, style)}${endsInNewline(failure, style) ? "\n" : ""}`;
  const httpStatus = statusOfFailure(failure, style);
  sendBody(response, httpStatus, body, { ...failureHeaders(failure), "content-type": jsonType });
}

/** Answers 404 with the text of the Agent Runner document's service. */
export function sendNotFound(response: RestResponse): void {
  sendText(response, 404, "404 page not found\n");
}

/** Answers 405 with the allowed methods. Has no body, like the Agent Runner document's service. */
export function sendMethodNotAllowed(response: RestResponse, allowed: readonly string[]): void {
  sendBody(response, 405, "", { allow: allowed.join(", ") });
}

const jsonType = "application/json";

/** Sets status and headers. They are sent with the first byte of the body. */
export function setHead(response: RestResponse, httpStatus: number, headers: ResponseHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, value);
  }
  response.statusCode = httpStatus;
}

/** Writes a piece and waits while the client is slow. Also resolves when the client has left. */
export async function writePiece(response: RestResponse, piece: string | Uint8Array): Promise<void> {
  const stream: Writable = response;
  // After the close `drain` never fires, and a write would only raise an error.
  if (piece.length === 0 || isGone(response)) {
    return;
  }
  corkForThisTurn(stream);
  if (stream.write(piece)) {
    return;
  }
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      resolve();
    };
    stream.on("drain", settle);
    stream.on("close", settle);
  });
}

/** Corks the stream for this turn of the event loop, so that all its writes use one system call. */
function corkForThisTurn(stream: Writable): void {
  if (stream.writableCorked === 0) {
    stream.cork();
    setImmediate(() => uncork(stream));
  }
}

function uncork(stream: Writable): void {
  if (stream.writableCorked > 0) {
    stream.uncork();
  }
}

/** Writes the last piece and ends the answer. */
export function endStream(response: RestResponse, lastPiece: string | Uint8Array): void {
  const stream: Writable = response;
  if (!isGone(response)) {
    // Uncorks first: Node would write the end of a chunked body before the corked bytes.
    uncork(stream);
    stream.end(lastPiece);
  }
}

/** Ends an answer so that its reader sees that the rest is missing. */
export function breakOff(response: RestResponse): void {
  if ("stream" in response) {
    // Node's `destroy` would end the stream as if it were complete.
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    response.destroy();
  }
}

/** Ends the connection, or the HTTP/2 stream, with the answer instead of waiting for the rest of the request. */
export function closeAfter(response: RestResponse): void {
  if ("stream" in response) {
    const { stream } = response;
    stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  } else {
    response.setHeader("connection", "close");
  }
}
