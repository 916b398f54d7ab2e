// Ed25519 public keys: 32 bytes that encode a point. Weak keys, for which one signature fits any text, can be detected.

import { createHash, createPublicKey, type KeyObject } from "node:crypto";

/** The length of a raw public key, in bytes. */
export const publicKeyBytes = 32;

/** The DER prefix of the 32 bytes in the form that the crypto library reads (RFC 8410). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Imports the 32 raw bytes of a public key. */
export function importPublicKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: "der", type: "spki" });
}

/** Returns the 32 raw bytes of a public key. */
export function exportPublicKey(key: KeyObject): Uint8Array {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
}

/** Returns the JWK thumbprint of a public key in base64url (RFC 7638). */
export function thumbprint(raw: Uint8Array): string {
  const x = Buffer.from(raw).toString("base64url");
  return createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
}

const prime = 2n ** 255n - 19n;
/** The y coordinates of the eight points of small order. The x coordinate, and so the sign bit, makes no difference. */
const orderEightY = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
const weakY: ReadonlySet<bigint> = new Set([0n, 1n, prime - 1n, orderEightY, prime - orderEightY]);

/** Returns true for a point of small order in any encoding: a y coordinate of at least the prime is reduced first. */
export function isWeak(raw: Uint8Array): boolean {
  const bytes = Buffer.from(raw).reverse();
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return weakY.has(BigInt(`0x${bytes.toString("hex")}`) % prime);
}
