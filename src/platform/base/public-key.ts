// Public keys of Ed25519: 32 bytes that are a point, and not one of the few for which a signature fits any text.

import { createHash, createPublicKey, type KeyObject } from "node:crypto";

export const publicKeyBytes = 32;

/** What comes before the 32 bytes in the form that the crypto library reads (RFC 8410). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

export function importPublicKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: "der", type: "spki" });
}

export function exportPublicKey(key: KeyObject): Uint8Array {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
}

/** RFC 7638. */
export function thumbprint(raw: Uint8Array): string {
  const x = Buffer.from(raw).toString("base64url");
  return createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
}

const prime = 2n ** 255n - 19n;
/** The y coordinates of the eight points of small order; x, and so the sign bit, makes no difference. */
const orderEightY = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
const weakY: ReadonlySet<bigint> = new Set([0n, 1n, prime - 1n, orderEightY, prime - orderEightY]);

/** However the point is written: a y coordinate of the prime or more is the same as what is left of it. */
export function isWeak(raw: Uint8Array): boolean {
  const bytes = Buffer.from(raw).reverse();
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return weakY.has(BigInt(`0x${bytes.toString("hex")}`) % prime);
}
