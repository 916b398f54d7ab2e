// Request bodies: allowed encodings and types, and decoding.

import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Fault } from "../../platform/base/fault.ts";

/** Throws Fault MEDIA_TYPE_UNSUPPORTED for a compressed body: its size is unknown before it is read. */
export function assertUncompressed(request: IncomingMessage | Http2ServerRequest): void {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    throw new Fault("MEDIA_TYPE_UNSUPPORTED", "content-encoding must be identity: send the body uncompressed");
  }
}

/** What `curl -d` declares by itself. Forms of pages declare it too; the rules of origins refuse those of other sites. */
const curlType = "application/x-www-form-urlencoded";

/**
 * Throws Fault MEDIA_TYPE_UNSUPPORTED for a body that is not declared as JSON. `takesCurl` accepts it as `curl -d` sends it. Lenient
 * services skip this check.
 */
export function assertJsonType(
  request: IncomingMessage | Http2ServerRequest,
  { takesText, takesCurl }: { readonly takesText: boolean; readonly takesCurl: boolean },
): void {
  const mediaType = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== "application/json" && !(takesCurl && mediaType === curlType)) {
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
