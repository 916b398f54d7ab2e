// Reads the keys that a service publishes for its receipts, from a file as `GET /.well-known/jwks.json` gives it (RFC 7517).

import { CommandError } from "../command-error.ts";
import { nameOf, readInput } from "../input.ts";

/** The maximum size of the file. A key has a few hundred bytes, so it holds thousands of rotated keys. */
const fileBytesMax = 1_048_576;

/** A key that a service publishes. */
export interface PublishedKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
}

/** Reads the Ed25519 keys of the file; other published keys sign no receipts. Throws a `CommandError`. */
export async function readPublishedKeys(path: string): Promise<PublishedKey[]> {
  const text = (await readInput(path, fileBytesMax)).toString();
  return readKeys(path, text).flatMap((key) => {
    const { kty, crv, kid, x } = key as Readonly<Record<string, unknown>>;
    const isOurs = kty === "OKP" && crv === "Ed25519" && typeof kid === "string" && typeof x === "string";
    return isOurs ? [{ kid, publicKey: Buffer.from(x, "base64url") }] : [];
  });
}

function readKeys(path: string, text: string): object[] {
  try {
    const { keys } = JSON.parse(text);
    if (Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null)) {
      return keys;
    }
  } catch {
    // Throws the error below.
  }
  const fix = "take what the service answers to GET /.well-known/jwks.json";
  throw new CommandError(`${nameOf(path)} is no JSON Web Key Set: an object with an array keys of objects`, {
    reason: "INVALID_JWKS",
    fix,
  });
}
