// What is signed of a write, and with what.
//
// Version 1 is the documented one: HMAC-SHA256 with the runner token itself over nonce, time, hash of the body and agent. The
// token goes along with the request, and neither method nor path is signed.
//
// Version 2 closes both: its key is derived from the token, which then is not sent, and its text has method, target and the
// SHA-256 of the body's bytes as well. The service keeps that derived key beside the token's hash, since it cannot derive it from
// the hash: whoever reads the table can sign version 2 (never version 1) until the credential is replaced.

import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Of one write, as it was sent. */
export interface SignedParts {
  readonly nonce: string;
  /** Milliseconds since 1970 as text: signed as it is written. */
  readonly timestamp: string;
  readonly agentId: string;
}

/** What version 2 signs beside. */
export interface BoundRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query as they are in the request. */
  readonly target: string;
  readonly body: Uint8Array;
}

export function payloadV1({ nonce, timestamp, agentId }: SignedParts, bodyHash: string): string {
  return `${nonce}.${timestamp}.${bodyHash}.${agentId}`;
}

/** One part a line. None of them can hold a line's end over HTTP, and the service refuses a time that is not all digits. */
export function payloadV2({ nonce, timestamp, agentId }: SignedParts, { method, target, body }: BoundRequest): string {
  const digest = createHash("sha256").update(body).digest("hex");
  return ["runnel-agent-2", nonce, timestamp, agentId, method, target, digest].join("\n");
}

/** `key` is the token's text for version 1, the derived key for version 2. Lower-case hexadecimal digits. */
export function signPayload(key: string | Uint8Array, payload: string): string {
  return createHmac("sha256", key).update(payload).digest("hex");
}

/** Whatever was given, of any length and any characters, takes the same time: digests are compared, not texts. */
export function isSignature(given: string, key: string | Uint8Array, payload: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(signPayload(key, payload)));
}

/** The key of version 2, and the name by which a request says which one it was signed with. */
export interface DerivedKey {
  /** 16 hexadecimal digits: no secret. */
  readonly id: string;
  readonly key: Buffer;
}

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
