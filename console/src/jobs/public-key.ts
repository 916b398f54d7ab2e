// Reads a public key as people have it: PEM, JWK, or the base64 that the contract takes.

/** The base64 of the DER bytes before the 32 bytes of an Ed25519 public key (RFC 8410). It ends with a whole byte. */
const spkiPrefix = "MCowBQYDK2VwAyEA";

export type PublicKey = { readonly base64: string } | { readonly problem: string };

const privateKey = { problem: "This is a private key. It belongs to its signer alone: enter the public key." };

/** Returns the 32 bytes in standard base64. The service judges base64 that was given as such. */
export function readPublicKey(text: string): PublicKey {
  const trimmed = text.trim();
  if (trimmed.includes("PRIVATE KEY")) {
    return privateKey;
  }
  if (trimmed.startsWith("-----BEGIN")) {
    const base64 = trimmed.replace(/-----[^-]*-----/g, "").replace(/\s/g, "");
    return base64.startsWith(spkiPrefix)
      ? { base64: base64.slice(spkiPrefix.length) }
      : { problem: "This PEM is not an Ed25519 public key." };
  }
  return trimmed.startsWith("{") ? readJwk(trimmed) : { base64: trimmed };
}

function readJwk(text: string): PublicKey {
  const { kty, crv, x, d } = parseObject(text);
  if (d !== undefined) {
    return privateKey;
  }
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") {
    return { problem: 'This is not an Ed25519 JWK: it needs "kty":"OKP", "crv":"Ed25519" and "x".' };
  }
  const base64 = x.replaceAll("-", "+").replaceAll("_", "/");
  return { base64: base64.padEnd(Math.ceil(base64.length / 4) * 4, "=") };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
