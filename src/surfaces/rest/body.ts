// Request bodies: allowed encodings and types, the maximum size, and decoding.

import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Fault } from "../../platform/base/fault.ts";

/** The maximum body of the Agent Runner document (`max_body_bytes`): 10 MiB. */
export const restBodyBytesMax = 10 * 1024 * 1024;

/**
 * Reads the whole body, and never holds more than `bytesMax` of it. Rejects with Fault BODY_TOO_LARGE as soon as the length is
 * known; the request stays open so that an answer can be sent. Rejects when the client leaves.
 */
export async function readBody(request: IncomingMessage | Http2ServerRequest, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    throw tooLarge(bytesMax);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving a plain `for await` would destroy the request, and with it the socket that the answer needs.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > bytesMax) {
      throw tooLarge(bytesMax);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Throws Fault MEDIA_TYPE_UNSUPPORTED for a compressed body: its size is unknown before it is read. */
export function assertUncompressed(request: IncomingMessage | Http2ServerRequest): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    throw new Fault("MEDIA_TYPE_UNSUPPORTED", "content-encoding must be identity: send the body uncompressed");
  }
}

/** Throws Fault MEDIA_TYPE_UNSUPPORTED for a body that is not declared as JSON. Lenient services skip this check. */
export function assertJsonType(
  request: IncomingMessage | Http2ServerRequest,
  { takesText }: { readonly takesText: boolean },
): void {
  const mediaType = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== "application/json") {
    const types = takesText ? "application/json or text/plain" : "application/json";
    throw new Fault("MEDIA_TYPE_UNSUPPORTED", `content-type must be ${types}`);
  }
}

/** Returns the body as text. For a lenient service invalid UTF-8 becomes U+FFFD; otherwise it throws Fault INVALID_ARGUMENT. */
export function decodeBody(bytes: Uint8Array, lenient: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: !lenient, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Fault("INVALID_ARGUMENT", "invalid request body: not UTF-8", { cause: error });
  }
}

function tooLarge(bytesMax: number): Fault {
  return new Fault("BODY_TOO_LARGE", `the request body is larger than ${bytesMax} bytes`);
}
