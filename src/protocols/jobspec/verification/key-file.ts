// Reads the key files of signers: PKCS#8 or SPKI as PEM or DER, or the bytes of a key. DER and bytes may be in base64. Ed25519
// keys only.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportPublicKey, publicKeyBytes } from "../../../platform/base/public-key.ts";

/** An Ed25519 key pair. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
}

/** What a key file holds. 32 bytes alone may be a secret seed or a public key. */
export type FoundKey =
  | { readonly kind: "pair"; readonly pair: KeyPair }
  | { readonly kind: "public"; readonly publicKey: Uint8Array }
  | { readonly kind: "seed or public"; readonly bytes: Uint8Array };

/** An unusable key file. The message continues a sentence that begins with the name of the file. */
export class KeyFault extends Error {
  override readonly name = "KeyFault";
}

/** Reads a key file. Throws a `KeyFault` when it holds no usable Ed25519 key. */
export function readKeyFile(file: Uint8Array): FoundKey {
  const text = Buffer.from(file).toString("latin1").trim();
  if (text.includes("-----BEGIN ")) {
    return readEncoded(text, "pem");
  }
  const bytes = isBase64(text) ? Buffer.from(text, "base64") : Buffer.from(file);
  switch (bytes.length) {
    case publicKeyBytes:
      return { kind: "seed or public", bytes };
    case 2 * publicKeyBytes:
      return { kind: "pair", pair: joinHalves(bytes) };
    default:
      return readEncoded(bytes, "der");
  }
}

/** Reads a key pair for signing, where 32 bytes can only be a seed. Throws a `KeyFault`. */
export function readKeyPair(file: Uint8Array): KeyPair {
  const found = readKeyFile(file);
  switch (found.kind) {
    case "pair":
      return found.pair;
    case "seed or public":
      return pairOfSeed(found.bytes);
    case "public":
      throw new KeyFault("is a public key: signing requires the private key");
    default:
      return found satisfies never;
  }
}

/** Makes a new key pair. */
export function newKeyPair(): KeyPair {
  return pairOf(generateKeyPairSync("ed25519").privateKey);
}

/** Prints the private key as PKCS#8 in PEM: `-----BEGIN PRIVATE KEY-----`. */
export function printPrivateKey({ privateKey }: KeyPair): string {
  return privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

/** The bytes before the seed in PKCS#8 (RFC 8410). */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Makes the key pair of a seed of 32 bytes. */
export function pairOfSeed(seed: Uint8Array): KeyPair {
  return pairOf(createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" }));
}

/** Reads the form in which Go and other libraries keep a private key: the seed followed by the public key. */
function joinHalves(bytes: Uint8Array): KeyPair {
  const pair = pairOfSeed(bytes.subarray(0, publicKeyBytes));
  if (Buffer.compare(pair.publicKey, bytes.subarray(publicKeyBytes)) !== 0) {
    throw new KeyFault("contains a seed and a public key that do not belong together");
  }
  return pair;
}

function readEncoded(key: string | Buffer, format: "pem" | "der"): FoundKey {
  const privateKey = attempt(() => createPrivateKey({ key, format, type: "pkcs8" }));
  if (privateKey !== undefined) {
    return { kind: "pair", pair: pairOf(privateKey) };
  }
  const publicKey = attempt(() => createPublicKey({ key, format, type: "spki" }));
  if (publicKey !== undefined) {
    return { kind: "public", publicKey: exportPublicKey(assertEd25519(publicKey)) };
  }
  throw new KeyFault(`is not a valid key: expected ${acceptedForms}`);
}

const acceptedForms = "PKCS#8 as PEM or DER, or base64 of the 32-byte seed or of seed and public key";

/** The codes of errors about encrypted keys: of DER, and of PEM, where Node would ask for a passphrase. */
const passphraseCodes: readonly unknown[] = ["ERR_MISSING_PASSPHRASE", "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED"];

/** Returns undefined when the file holds no such key. */
function attempt(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && passphraseCodes.includes(error.code)) {
      throw new KeyFault("is encrypted: write it without a passphrase by `openssl pkcs8 -topk8 -nocrypt`");
    }
    return undefined;
  }
}

function pairOf(privateKey: KeyObject): KeyPair {
  return { privateKey, publicKey: exportPublicKey(createPublicKey(assertEd25519(privateKey))) };
}

function assertEd25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== "ed25519") {
    throw new KeyFault(`is a key of type ${key.asymmetricKeyType}: JobSpecs are signed with Ed25519`);
  }
  return key;
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/\r\n]+={0,2}$/.test(text);
}
