// Detects a caller that leaves before its answer is written. Later disconnects abort nothing: an abort costs an exception with
// its stack, and every connection or stream closes some time.

import { constants } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Request, Response } from "./message.ts";

/** The signal that aborts when the caller of a request leaves. */
export class Disconnect {
  readonly #departed = new AbortController();
  #isAnswered = false;

  constructor(request: Request, response: Response) {
    if ("stream" in request) {
      request.once("close", () => this.#leave(reasonOfReset(request.stream.rstCode)));
    } else {
      request.once("error", (error) => this.#leave(reasonOfError(error)));
      // An HTTP/1.1 request closes as soon as it has been read.
      response.once("close", () => this.#leave(request.errored === null ? undefined : reasonOfError(request.errored)));
    }
  }

  get signal(): AbortSignal {
    return this.#departed.signal;
  }

  /** Marks the call as answered. The signal no longer aborts. */
  answered(): void {
    this.#isAnswered = true;
  }

  #leave(reason: ConnectError | undefined): void {
    if (!this.#isAnswered) {
      this.#departed.abort(reason);
    }
  }
}

/** The gRPC codes of HTTP/2 error codes, as the gRPC protocol maps them. */
const codesOfResets = new Map<number | undefined, Code>([
  [constants.NGHTTP2_PROTOCOL_ERROR, Code.Internal],
  [constants.NGHTTP2_INTERNAL_ERROR, Code.Internal],
  [constants.NGHTTP2_FLOW_CONTROL_ERROR, Code.Internal],
  [constants.NGHTTP2_SETTINGS_TIMEOUT, Code.Internal],
  [constants.NGHTTP2_FRAME_SIZE_ERROR, Code.Internal],
  [constants.NGHTTP2_COMPRESSION_ERROR, Code.Internal],
  [constants.NGHTTP2_CONNECT_ERROR, Code.Internal],
  [constants.NGHTTP2_REFUSED_STREAM, Code.Unavailable],
  [constants.NGHTTP2_CANCEL, Code.Canceled],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, Code.ResourceExhausted],
  [constants.NGHTTP2_INADEQUATE_SECURITY, Code.PermissionDenied],
  [constants.NGHTTP2_HTTP_1_1_REQUIRED, Code.PermissionDenied],
]);

function reasonOfReset(rstCode: number | undefined): ConnectError | undefined {
  const code = codesOfResets.get(rstCode);
  return code === undefined ? undefined : new ConnectError(`the stream was reset with HTTP/2 code ${rstCode}`, code);
}

function reasonOfError(error: Error): ConnectError {
  const isReset = "code" in error && error.code === "ECONNRESET";
  return ConnectError.from(error, isReset ? Code.Aborted : Code.Internal);
}
