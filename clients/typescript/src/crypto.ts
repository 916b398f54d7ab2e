// Hashes and signatures over the platform's own cryptography, which Node and browsers share.

const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export async function hmacSha256(secret: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encodeText(secret), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));
}

/** Whether the bytes were authenticated with the secret. The platform compares in constant time. */
export async function isHmacSha256(
  secret: string,
  mac: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encodeText(secret), algorithm, false, ["verify"]);
  return await crypto.subtle.verify("HMAC", key, mac, bytes);
}

export async function isEd25519(
  publicKey: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  return await crypto.subtle.verify("Ed25519", key, signature, bytes);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Joins bytes. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
