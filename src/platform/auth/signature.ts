// Signatures of requests: the scheme of the Agent Runner document (v1: timestamp, nonce and body), and ours (v2), which
// binds method, path and query, client id and the digest of the body as well. Both travel in the same headers; what was
// signed tells them apart, since a v1 text begins with digits. Pure: neither clock nor store.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";

/** How far a request's timestamp may be from our clock, which is the database's, either way. */
const timestampToleranceSeconds = 120;

export interface SignatureHeaders {
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
}

/** Headers whose shape is right. */
export interface Signature {
  readonly mac: Uint8Array;
  readonly timestamp: string;
  readonly nonce: string;
}

/** What a signature may be over. */
export interface SignedRequest {
  readonly httpMethod: string;
  /** Path and query as they were received. */
  readonly target: string;
  /** The client id as it was claimed; empty when none was. */
  readonly clientId: string;
  /** The body; for a call with one enveloped message also that message, as gRPC libraries show it to their interceptors. */
  readonly contents: readonly Uint8Array[];
}

/** Checks what can be said before the body is read, in the document's order and words. */
export function readSignature(headers: SignatureHeaders, nowMs: number): Signature {
  const { signature, timestamp, nonce } = headers;
  if (!signature || !timestamp || !nonce) {
    throw new Fault("CREDENTIALS_MISSING", "missing signature, timestamp, or nonce");
  }
  // Before any MAC: with a dot in the nonce, one text could be read as two different requests.
  if (!/^[A-Za-z0-9_-]{8,128}$/.test(nonce)) {
    throw new Fault("NONCE_INVALID", "invalid nonce");
  }
  // One spelling only: Number() would take exponents, signs and blanks.
  if (!/^[1-9]\d{0,15}$/.test(timestamp)) {
    throw new Fault("TIMESTAMP_INVALID", "invalid timestamp");
  }
  const skewSeconds = Number(timestamp) - Math.floor(nowMs / 1_000);
  if (!(Math.abs(skewSeconds) <= timestampToleranceSeconds)) {
    throw new Fault("TIMESTAMP_EXPIRED", "timestamp too old", { metadata: { skew_seconds: String(skewSeconds) } });
  }
  const mac = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1];
  if (mac === undefined) {
    throw invalidSignature();
  }
  return { mac: Buffer.from(mac, "hex"), timestamp, nonce };
}

/** True when one of the secrets signed the request. Takes the same time whichever it was, and for none at all. */
export function isSignedBy(
  secrets: readonly string[],
  signature: Signature,
  request: SignedRequest,
  { acceptV1 }: { readonly acceptV1: boolean },
): boolean {
  const texts = request.contents.flatMap((content) => {
    const v2 = textV2(signature, request, content);
    return acceptV1 ? [v2, textV1(signature, content)] : [v2];
  });
  let isSigned = false;
  for (const secret of secrets.length === 0 ? [unknownSecret] : secrets) {
    for (const text of texts) {
      const mac = createHmac("sha256", secret).update(text).digest();
      isSigned = timingSafeEqual(mac, signature.mac) || isSigned;
    }
  }
  return isSigned && secrets.length > 0;
}

export function invalidSignature(): Fault {
  return new Fault("SIGNATURE_INVALID", "invalid signature");
}

/** Stands in for the secret of a client that nobody knows, so that such a client costs what a known one does. */
const unknownSecret = "no client has this secret";

function textV1({ timestamp, nonce }: Signature, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${timestamp}.${nonce}.`), content]);
}

function textV2({ timestamp, nonce }: Signature, request: SignedRequest, content: Uint8Array): string {
  const { httpMethod, target, clientId } = request;
  const digest = createHash("sha256").update(content).digest("hex");
  return ["v2", httpMethod, target, clientId, timestamp, nonce, digest].join("\n");
}
