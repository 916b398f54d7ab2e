// Request signatures: the scheme of the Agent Runner document (v1: timestamp, nonce and body), and Runnel's own (v2). V2 also
// covers method, path and query, client id and the digest of the body. Both use the same headers; the signed text distinguishes
// them, since a v1 text starts with digits. Pure: uses neither clock nor store.

import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { Fault } from "../base/fault.ts";

/**
 * The prefix of the nonces in requests that the service signs. Their v1 text has the same form as that of a client's request, so
 * their receiver could send them back. Therefore no request with such a nonce is valid, for any client and in any scheme.
 */
export const ownNoncePrefix = "from-runnel-";

/** The maximum difference between a request's timestamp and our clock, which is the database's, in either direction. */
const timestampToleranceSeconds = 120;

/** The signature headers as received. */
export interface SignatureHeaders {
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
}

/** Signature headers with a valid form. */
export interface Signature {
  readonly mac: Uint8Array;
  readonly timestamp: string;
  readonly nonce: string;
}

/** The parts of a request that a signature covers. */
export interface SignedRequest {
  readonly httpMethod: string;
  /** Path and query as received. */
  readonly target: string;
  /** The claimed client id; empty when missing. */
  readonly clientId: string;
  /** The body. For a call with one enveloped message also that message, as gRPC libraries pass it to their interceptors. */
  readonly contents: readonly Uint8Array[];
}

/**
 * Runs the checks that do not need the body, in the document's order and wording. Throws CREDENTIALS_MISSING, NONCE_INVALID,
 * TIMESTAMP_INVALID, TIMESTAMP_EXPIRED or SIGNATURE_INVALID.
 */
export function readSignature(headers: SignatureHeaders, nowMs: number): Signature {
  const { signature, timestamp, nonce } = headers;
  if (!signature || !timestamp || !nonce) {
    throw new Fault("CREDENTIALS_MISSING", "missing signature, timestamp, or nonce");
  }
  // Checked before any MAC: with a dot in the nonce, one text could be read as two different requests.
  if (!/^[A-Za-z0-9_-]{8,128}$/.test(nonce) || nonce.startsWith(ownNoncePrefix)) {
    throw new Fault("NONCE_INVALID", "invalid nonce");
  }
  // Only one spelling is valid: Number() would accept exponents, signs and blanks.
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

/**
 * Returns true when one of the secrets signed the request. Takes the same time whichever secret matches. A refusal takes the same
 * time whether the client is known or not.
 */
export function isSignedBy(
  secrets: readonly string[],
  signature: Signature,
  request: SignedRequest,
  { acceptV1 }: { readonly acceptV1: boolean },
): boolean {
  const tried = secrets.length === 0 ? [unknownSecret] : secrets;
  for (const content of request.contents) {
    const isV1 = acceptV1 && isMacOf(tried, textV1(signature, content), signature);
    if (isV1 || isMacOf(tried, textV2(signature, request, content), signature)) {
      return secrets.length > 0;
    }
  }
  return false;
}

/** Computes the MAC of each secret, also after a match. */
function isMacOf(secrets: readonly string[], text: Uint8Array, { mac }: Signature): boolean {
  let isSame = false;
  for (const secret of secrets) {
    isSame = timingSafeEqual(createHmac("sha256", secret).update(text).digest(), mac) || isSame;
  }
  return isSame;
}

/** Returns a fault SIGNATURE_INVALID. */
export function invalidSignature(): Fault {
  return new Fault("SIGNATURE_INVALID", "invalid signature");
}

/** Replaces the secret of an unknown client, so that it costs the same time as a known one. */
const unknownSecret = "no client has this secret";

function textV1({ timestamp, nonce }: Signature, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${timestamp}.${nonce}.`), content]);
}

function textV2({ timestamp, nonce }: Signature, request: SignedRequest, content: Uint8Array): Uint8Array {
  const { httpMethod, target, clientId } = request;
  const digest = hash("sha256", content);
  return Buffer.from(["v2", httpMethod, target, clientId, timestamp, nonce, digest].join("\n"));
}
