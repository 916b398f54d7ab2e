// The keys of JSON Web Tokens (RFC 7519): the algorithm follows from the kind of key (RFC 7518, RFC 8037).

import { createPrivateKey, type KeyObject } from "node:crypto";

/** The algorithms of tokens. */
export type TokenAlgorithm = "RS256" | "ES256" | "ES384" | "EdDSA";

/** A private key and its algorithm. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly algorithm: TokenAlgorithm;
}

/** The maximum length of an RSA key that RFC 7518 forbids, in bits. */
const weakRsaBits = 2_047;
const curves: Readonly<Record<string, TokenAlgorithm>> = { prime256v1: "ES256", secp384r1: "ES384" };

/** Reads a private key in PEM; undefined for anything else and for a key that signs no tokens. */
export function readSigningKey(pem: string): SigningKey | undefined {
  try {
    const key = createPrivateKey(pem);
    const algorithm = algorithmOf(key);
    return algorithm && { key, algorithm };
  } catch {
    return undefined;
  }
}

/** Returns the algorithm of a private or public key; undefined for a key that tokens do not have, or that is weak. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): TokenAlgorithm | undefined {
  switch (asymmetricKeyType) {
    case "rsa":
      return (asymmetricKeyDetails.modulusLength ?? 0) > weakRsaBits ? "RS256" : undefined;
    case "ec":
      return curves[asymmetricKeyDetails.namedCurve ?? ""];
    case "ed25519":
      return "EdDSA";
    default:
      return undefined;
  }
}
