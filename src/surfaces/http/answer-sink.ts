// The body of an answer as a sink. Bytes go directly to the stream or socket that Node would write them to, without the
// overhead of a write through the response. The sink takes bytes only where both are equivalent: the head is sent, the response
// itself holds no unsent bytes, and the reader keeps up.

import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";
import { shared } from "../../platform/base/shared.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { Response } from "./message.ts";

/** Returns the sink for the body of a response. */
export function openAnswerSink(response: Response): Sink<Uint8Array> {
  return "stream" in response ? new H2Sink(response.stream) : new H1Sink(response);
}

class H2Sink implements Sink<Uint8Array> {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  take(bytes: Uint8Array): boolean {
    const stream = this.#stream;
    if (bytes.byteLength === 0) {
      return true;
    }
    if (!stream.headersSent || !takesMore(stream)) {
      return false;
    }
    stream.write(bytes);
    return true;
  }

  drained(signal: AbortSignal): Promise<void> {
    return drained(this.#stream, signal);
  }
}

/** Writes each chunk of a chunked body with one write; Node would make four. */
class H1Sink implements Sink<Uint8Array> {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  take(bytes: Uint8Array): boolean {
    const response = this.#response;
    const { socket } = response;
    // An empty chunk would end the body.
    if (bytes.byteLength === 0) {
      return true;
    }
    // A response has a socket from its turn on the connection until it is finished.
    if (socket === null || !response.headersSent || !response.chunkedEncoding || !takesMore(socket)) {
      return false;
    }
    // Bytes written while corked, or before the socket was assigned, still have to leave through the response.
    if (response.writableEnded || response.writableCorked > 0 || response.writableLength > socket.writableLength) {
      return false;
    }
    socket.write(chunkOf(bytes));
    return true;
  }

  async drained(signal: AbortSignal): Promise<void> {
    const { socket } = this.#response;
    if (socket !== null) {
      await drained(socket, signal);
    }
  }
}

/** Encodes a chunk (RFC 9112, 7.1): `abc` gives `3\r\nabc\r\n`. */
const chunkOf = shared((bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]),
);

function takesMore(stream: Writable): boolean {
  return stream.writable && !stream.writableNeedDrain;
}

async function drained(stream: Writable, signal: AbortSignal): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed || signal.aborted) {
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = (): void => resolve();
  stream.on("drain", settle).on("close", settle);
  signal.addEventListener("abort", settle);
  await promise;
  stream.off("drain", settle).off("close", settle);
  signal.removeEventListener("abort", settle);
}
