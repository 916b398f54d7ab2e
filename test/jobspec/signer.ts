// Signs specs for tests, with generated keys. The shared cases prove that it signs the canonical bytes.

import { generateKeyPairSync, sign } from "node:crypto";
import { thumbprint } from "../../src/platform/base/public-key.ts";
import { canonicalText } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { canonicalTextV2 } from "../../src/protocols/jobspec/verification/canonical-v2.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";

export interface Signer {
  readonly rawKey: Uint8Array;
  /** Returns the spec as sent: with key and signature at its end. */
  signV1(spec: object | string): string;
  /** Adds `sig_v`, `alg` and `kid`. */
  signV2(spec: object): string;
  /** Signs any bytes; the result is in base64. */
  signBytes(bytes: string | Uint8Array): string;
}

export function makeSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const rawKey = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const signBytes = (bytes: string | Uint8Array): string =>
    sign(null, Buffer.from(bytes), privateKey).toString("base64");
  const key = { public_key: rawKey.toString("base64") };
  return {
    rawKey,
    signBytes,
    signV1: (spec) => {
      const text = addMembers(typeof spec === "string" ? spec : JSON.stringify(spec), key);
      return addMembers(text, { signature: signBytes(canonicalText(readDocument(Buffer.from(text)).object)) });
    },
    signV2: (spec) => {
      const text = JSON.stringify({ sig_v: 2, alg: "Ed25519", kid: thumbprint(rawKey), ...key, ...spec });
      return addMembers(text, { signature: signBytes(canonicalTextV2(readDocument(Buffer.from(text)).object)) });
    },
  };
}

/** Adds members at the end of the text of a non-empty object. */
export function addMembers(text: string, members: object): string {
  return `${text.trimEnd().slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}
