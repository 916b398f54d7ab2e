// The signature of a JobSpec: what it covers, which key made it, and whether it is valid. ("Portal ↔ Runner Signing Contract",
// Signing, What the server verifies.)
// S1  The gate, the diagnosis and the command line all check signatures here.
// S2  The spec itself names the version; no other way of signing is tried here.

import { type KeyObject, verify } from "node:crypto";
import { importPublicKey, isWeak, publicKeyBytes, thumbprint } from "../../../platform/base/public-key.ts";
import { decodeBase64 } from "./base64.ts";
import { print, signablePart } from "./canonical-v1.ts";
import { printV2, signablePartV2 } from "./canonical-v2.ts";
import type { JsonObject, ReadDocument, Remark } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** A spec with a signature and a key of the right shape. The signature may be wrong. */
export interface SignedSpec {
  readonly version: 1 | 2;
  /** The signed part as an object. Nothing else of the spec may be acted on. */
  readonly signable: JsonObject;
  /** The signed part as text: what the signature has to cover. */
  readonly canonical: string;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** Reads signature and key and checks their shape only. Throws a `SpecFault`. */
export function readSignedSpec({ object, remarks }: ReadDocument): SignedSpec {
  const version = readVersion(object);
  const [signatureText, keyText] = [readText(object, "signature"), readText(object, "public_key")];
  const signature = decodeField("signature", signatureText, "failed to decode signature");
  const publicKey = decodeField("public_key", keyText, "invalid public key: failed to decode public key");
  if (publicKey.length !== publicKeyBytes) {
    const problem = `invalid public key size: expected ${publicKeyBytes}, got ${publicKey.length}`;
    throw new SpecFault("invalid_encoding:public_key", `invalid public key: ${problem}`);
  }
  if (isWeak(publicKey)) {
    throw new SpecFault("weak_public_key", "weak public key: with it one signature fits any text; make a new key pair");
  }
  if (version === 2) {
    refuseRemarks(remarks);
    checkNamedKey(object, publicKey);
  }
  return { version, ...formOf(object, version), publicKey, signature };
}

/** Returns what a signature of this version has to cover, whether the spec has a signature or not. */
export function formOf(spec: JsonObject, version: 1 | 2): Pick<SignedSpec, "signable" | "canonical"> {
  const signable = version === 1 ? signablePart(spec) : signablePartV2(spec);
  return { signable, canonical: version === 1 ? print(signable) : printV2(signable) };
}

/** Returns true when the signature is valid. */
export function isSignatureRight({ canonical, publicKey, signature }: SignedSpec): boolean {
  return isSignatureOf(Buffer.from(canonical), publicKey, signature);
}

/** Returns true when `signature` is a valid signature of `bytes` by the key. */
export function isSignatureOf(bytes: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, bytes, keyOf(publicKey), signature);
}

/** Reads `sig_v`; a missing one means 1. Throws a `SpecFault` for other values than 1 and 2. */
export function readVersion(spec: JsonObject): 1 | 2 {
  const version = spec.get("sig_v");
  if (version === undefined || version === 1) {
    return 1;
  }
  if (version !== 2) {
    throw new SpecFault("invalid_field:sig_v", "sig_v must be 1 or 2: sign the spec by one of these versions");
  }
  return 2;
}

const requiredWords = { signature: "signature is required", public_key: "public key is required" } as const;

function readText(spec: JsonObject, name: keyof typeof requiredWords): string {
  const value = spec.get(name);
  if (typeof value !== "string" || value === "") {
    throw new SpecFault(`missing_field:${name}`, requiredWords[name]);
  }
  return value;
}

function decodeField(name: keyof typeof requiredWords, text: string, problem: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch (error) {
    throw new SpecFault(`invalid_encoding:${name}`, `${problem}: ${error instanceof Error ? error.message : error}`);
  }
}

/** What a message says about each kind of remark, after its path. */
export const remarkWords: Readonly<Record<Remark["what"], string>> = {
  duplicate_key: "has a name that occurs twice",
  lone_surrogate: "contains half of a surrogate pair",
  inexact_integer: "is an integer that other programs read as another number",
};

function refuseRemarks([first]: readonly Remark[]): void {
  if (first !== undefined) {
    throw new SpecFault("invalid_json", `${first.path} ${remarkWords[first.what]}, which version 2 does not accept`);
  }
}

const algorithms: readonly unknown[] = ["Ed25519", "EdDSA"];

/** Checks `alg` and `kid`. They are inside the signed bytes, so they cannot be replaced. */
function checkNamedKey(spec: JsonObject, publicKey: Uint8Array): void {
  for (const name of ["alg", "kid"] as const) {
    if (spec.get(name) === undefined) {
      throw new SpecFault(`missing_field:${name}`, `${name} is required in version 2`);
    }
  }
  if (!algorithms.includes(spec.get("alg"))) {
    throw new SpecFault("invalid_field:alg", 'alg must be "Ed25519"');
  }
  const kid = thumbprint(publicKey);
  if (spec.get("kid") !== kid) {
    throw new SpecFault("invalid_field:kid", `kid must be the thumbprint of public_key (RFC 7638): ${kid}`);
  }
}

/** The maximum number of cached keys. Importing a key costs a good part of what a check costs. */
const keysMax = 1_000;
const keys = new Map<string, KeyObject>();

function keyOf(raw: Uint8Array): KeyObject {
  const name = Buffer.from(raw).toString("latin1");
  const known = keys.get(name);
  if (known !== undefined) {
    return known;
  }
  const [oldest] = keys.keys();
  if (keys.size >= keysMax && oldest !== undefined) {
    keys.delete(oldest);
  }
  const key = importPublicKey(raw);
  keys.set(name, key);
  return key;
}
