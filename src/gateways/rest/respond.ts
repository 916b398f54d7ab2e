// Writes answers: a JSON body, a failure, or pieces of a stream with back-pressure. Works on HTTP/1.1 and HTTP/2.

import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Writable } from "node:stream";
import type { ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import type { ReasonName } from "../../base/fault.ts";
import { describeFailure, failureHeaders, printFailure } from "./errors.ts";

export type RestRequest = IncomingMessage | Http2ServerRequest;
export type RestResponse = ServerResponse | Http2ServerResponse;

/** Sends JSON with a final newline. A status that has no body sends none. */
export function sendJson(
  response: RestResponse,
  httpStatus: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (httpStatus === 204) {
    sendEmpty(response, headers);
    return;
  }
  const body = Buffer.from(`${json}\n`);
  setHead(response, httpStatus, {
    ...headers,
    "content-type": "application/json",
    "content-length": String(body.byteLength),
  });
  endStream(response, body);
}

/** Answers 204. */
export function sendEmpty(response: RestResponse, headers: Readonly<Record<string, string>> = {}): void {
  setHead(response, 204, headers);
  endStream(response, "");
}

/** Sends an error, unless it is too late for one: the head is out or the client is gone. */
export function sendFailure(
  response: RestResponse,
  error: unknown,
  errorBody: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) {
    return;
  }
  const failure = describeFailure(error);
  if (failure.reason === bodyTooLarge) {
    closeAfter(response);
  }
  sendJson(response, failure.httpStatus, printFailure(failure, errorBody), { ...failureHeaders(failure), ...headers });
}

/** Sets status and headers; they leave with the first byte of the body. */
export function setHead(response: RestResponse, httpStatus: number, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, value);
  }
  response.statusCode = httpStatus;
}

/** Writes a piece and waits while the client is slower than we are. Resolves too when the client is gone. */
export async function writePiece(response: RestResponse, piece: string): Promise<void> {
  const stream: Writable = response;
  // After the close there will be no `drain`, and a write would only raise an error.
  if (piece === "" || stream.destroyed) {
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

/** What is written within one turn of the event loop leaves with one system call. */
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
  if (!stream.destroyed) {
    // Node would write the end of a corked chunked body before what is corked.
    uncork(stream);
    stream.end(lastPiece);
  }
}

const bodyTooLarge = "BODY_TOO_LARGE" satisfies ReasonName;

/** The rest of a body that nobody wants is not waited for: the connection, or the HTTP/2 stream, ends with the answer. */
function closeAfter(response: RestResponse): void {
  if ("stream" in response) {
    const { stream } = response;
    stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
  } else {
    response.setHeader("connection", "close");
  }
}
