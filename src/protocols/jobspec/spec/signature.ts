// The signature of a JobSpec: what it is over, whose it is, and whether it is right. ("Portal ↔ Runner Signing Contract", Signing,
// What the server verifies.)
// S1  Whoever wants to know whether a spec is signed asks here: the gate, the diagnosis and the command line.
// S2  The version is what the spec says it is; no other way of signing is tried here.

import { type KeyObject, verify } from "node:crypto";
import { importPublicKey, isWeak, publicKeyBytes, thumbprint } from "../../../platform/base/public-key.ts";
import { decodeBase64 } from "./base64.ts";
import { print, signablePart } from "./canonical-v1.ts";
import { printV2, signablePartV2 } from "./canonical-v2.ts";
import type { JsonObject, ReadDocument, Remark } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

export interface SignedSpec {
  readonly version: 1 | 2;
  /** What is signed, as an object: nothing else of the spec may be acted on. */
  readonly signable: JsonObject;
  /** The same as text: what the signature has to be over. */
  readonly canonical: string;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** Looks at signature and key as far as their shape goes. Throws a `SpecFault`. */
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

/** What a signature of this version has to be over, whether the spec has one or not. */
export function formOf(spec: JsonObject, version: 1 | 2): Pick<SignedSpec, "signable" | "canonical"> {
  const signable = version === 1 ? signablePart(spec) : signablePartV2(spec);
  return { signable, canonical: version === 1 ? print(signable) : printV2(signable) };
}

export function isSignatureRight({ canonical, publicKey, signature }: SignedSpec): boolean {
  return isSignatureOf(Buffer.from(canonical), publicKey, signature);
}

export function isSignatureOf(bytes: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, bytes, keyOf(publicKey), signature);
}

/** Throws a `SpecFault`. */
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

export const remarkWords: Readonly<Record<Remark["what"], string>> = {
  duplicate_key: "has a name that occurs twice",
  lone_surrogate: "holds half of a surrogate pair",
  inexact_integer: "is an integer that other programs read as another one",
};

function refuseRemarks([first]: readonly Remark[]): void {
  if (first !== undefined) {
    throw new SpecFault("invalid_json", `${first.path} ${remarkWords[first.what]}, which version 2 does not take`);
  }
}

const algorithms: readonly unknown[] = ["Ed25519", "EdDSA"];

/** The names of key and algorithm are inside the signed bytes, so they cannot be exchanged for others. */
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

/** Keys that signed lately. Making one costs a good part of what a check costs. */
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
