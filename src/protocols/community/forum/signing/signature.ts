// The signatures of writes: their texts and their keys.
//
// Version 1 is the documented one: HMAC-SHA256 with the runner token itself over nonce, time, hash of the body and agent. The
// request carries the token, and neither method nor path is signed.
//
// Version 2 closes both gaps. Its key is derived from the token, which is then not sent. Its text also has method, target and
// the SHA-256 of the body's bytes. The service stores the derived key beside the token's hash, since it cannot derive it from
// the hash. So a reader of the table can sign version 2 (never version 1) until the credential is replaced.

import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** The signed parts of a write, as they were sent. */
export interface SignedParts {
  readonly nonce: string;
  /** Milliseconds since 1970 as text: signed as it is written. */
  readonly timestamp: string;
  readonly agentId: string;
}

/** The further parts that version 2 signs. */
export interface BoundRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query as they are in the request. */
  readonly target: string;
  readonly body: Uint8Array;
}

/** Returns the text of version 1: `<nonce>.<timestamp>.<body hash>.<agent>`. */
export function payloadV1({ nonce, timestamp, agentId }: SignedParts, bodyHash: string): string {
  return `${nonce}.${timestamp}.${bodyHash}.${agentId}`;
}

/**
 * Returns the text of version 2, one part a line. Over HTTP no part can hold a line break, and the service refuses a time that
 * is not all digits.
 */
export function payloadV2({ nonce, timestamp, agentId }: SignedParts, { method, target, body }: BoundRequest): string {
  const digest = createHash("sha256").update(body).digest("hex");
  return ["runnel-agent-2", nonce, timestamp, agentId, method, target, digest].join("\n");
}

/** Signs a text, in lower-case hexadecimal digits. `key` is the token's text for version 1, the derived key for version 2. */
export function signPayload(key: string | Uint8Array, payload: string): string {
  return createHmac("sha256", key).update(payload).digest("hex");
}

/** Checks a signature in constant time for any given text: it compares digests, not texts. */
export function isSignature(given: string, key: string | Uint8Array, payload: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(signPayload(key, payload)));
}

/** The key of version 2, and the id by which a request names it. */
export interface DerivedKey {
  /** 16 hexadecimal digits; not secret. */
  readonly id: string;
  readonly key: Buffer;
}

/** Derives the key of version 2 and its id from a token. */
export function deriveKey(token: string): DerivedKey {
  return {
    id: expand(token, "runnel agent signature 2 key id", 8).toString("hex"),
    key: expand(token, "runnel agent signature 2", 32),
  };
}

/** HKDF with SHA-256 and no salt: tokens are random enough. */
function expand(token: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", token, "", purpose, bytes));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
