// gRPC without a client library: sends any bytes as the body of a call, and returns how the call ended.

import { once } from "node:events";
import http2 from "node:http2";
import { credentialsOf } from "../harness/credentials.ts";

export interface RawEnd {
  /** The HTTP status; undefined when the stream was reset before any header. */
  readonly httpStatus: number | undefined;
  /** The gRPC status of the trailers; undefined without trailers. */
  readonly grpcStatus: number | undefined;
  readonly message: string;
}

/** Returns one frame: flags, length, bytes. `claimedBytes` gives a wrong length. */
export function frame(bytes: Uint8Array, options: { flag?: number; claimedBytes?: number } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(options.flag ?? 0, 0);
  head.writeUInt32BE(options.claimedBytes ?? bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/**
 * Resolves when the answer has ended or the stream was reset. Bytes that are not sent by then stay unsent. Each part of a body is
 * a DATA frame of its own.
 */
export async function callRaw(
  url: string,
  path: string,
  body: Uint8Array | readonly Uint8Array[],
  headers: http2.OutgoingHttpHeaders = {},
): Promise<RawEnd> {
  const session = http2.connect(url);
  session.on("error", () => {});
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...credentialsOf(),
      ...headers,
    });
    let received: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
    stream.on("error", () => {});
    stream.on("response", (each) => {
      received = { ...received, ...each };
    });
    stream.on("trailers", (each) => {
      received = { ...received, ...each };
    });
    stream.resume();
    const [last = new Uint8Array(), ...before] = body instanceof Uint8Array ? [body] : body.toReversed();
    for (const part of before.reverse()) {
      await new Promise((resolve) => stream.write(part, resolve));
    }
    stream.end(last);
    await Promise.race([once(stream, "end"), once(stream, "close")]);
    const grpcStatus = received["grpc-status"];
    return {
      httpStatus: received[":status"],
      grpcStatus: grpcStatus === undefined ? undefined : Number(grpcStatus),
      message: decodeURIComponent(String(received["grpc-message"] ?? "")),
    };
  } finally {
    session.destroy();
  }
}
