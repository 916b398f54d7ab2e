// Bodies that have to be read before anybody knows whether their sender may call: bounded each, and all together.

import { Fault } from "../base/fault.ts";
import type { Request } from "./rpc.ts";

/** Six of the largest bodies at a time; what is more is refused, and may come again. */
const unverifiedBytesMax = 64 * 1_048_576;

export class UnverifiedBodies {
  #heldBytes = 0;

  /** Rejects when the sender goes away, with BODY_TOO_LARGE, or with OVERLOADED when too much is being read already. */
  async read(request: Request, bytesMax: number): Promise<Buffer> {
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
      throw tooLarge(bytesMax);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      // Leaving a plain `for await` would destroy the request and with it the socket that the answer needs.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        bytes += chunk.byteLength;
        this.#heldBytes += chunk.byteLength;
        if (bytes > bytesMax) {
          throw tooLarge(bytesMax);
        }
        if (this.#heldBytes > unverifiedBytesMax) {
          throw new Fault("OVERLOADED", "too many large requests at once: try again", { retryAfterMs: 1_000 });
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks, bytes);
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}

/** What a signature may be over: the body, and of a call with one plain message in an envelope also that message. */
export function contentsOf(body: Buffer, contentType: string): readonly Buffer[] {
  const isEnveloped = /^application\/(?:grpc|connect\+)/i.test(contentType);
  const isOnePlainMessage =
    isEnveloped &&
    body.length >= envelopePrefixBytes &&
    body[0] === 0 &&
    body.readUInt32BE(1) === body.length - envelopePrefixBytes;
  return isOnePlainMessage ? [body, body.subarray(envelopePrefixBytes)] : [body];
}

const envelopePrefixBytes = 5;

function tooLarge(bytesMax: number): Fault {
  return new Fault("BODY_TOO_LARGE", `the request body is larger than ${bytesMax} bytes`);
}
