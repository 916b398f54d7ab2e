// Signs a JobSpec in the text that it came in. What comes out has passed the check that the service makes.

import { randomBytes, sign } from "node:crypto";
import { thumbprint } from "../../../platform/base/public-key.ts";
import { isObject, type ReadDocument, readDocument } from "./json.ts";
import type { KeyPair } from "./key-file.ts";
import { formOf, isSignatureRight, readSignedSpec, readVersion, type SignedSpec } from "./signature.ts";
import { SpecFault } from "./spec-fault.ts";
import { setMembers } from "./splice.ts";

/** What is not given stays as the spec has it. */
export interface Signing {
  readonly version?: 1 | 2;
  /** Both are of version 2. */
  readonly expireMs?: number;
  readonly audience?: string;
  readonly stamp?: Stamp;
}

/** Makes a signed spec single, and tells when it was signed. */
export interface Stamp {
  readonly timestamp: string;
  readonly nonce: string;
}

/** As the portal makes it: 16 random bytes in base64 without their padding. */
export function newStamp(nowMs: number): Stamp {
  return { timestamp: new Date(nowMs).toISOString(), nonce: randomBytes(16).toString("base64").slice(0, 22) };
}

export interface SignedText extends SignedSpec {
  readonly text: string;
}

/** Throws a `SpecFault` for a spec that no signature makes good. */
export function signSpec(document: ReadDocument, pair: KeyPair, signing: Signing): SignedText {
  const { version = readVersion(document.object), stamp } = signing;
  const prepared = reread(
    setMembers(document, {
      ...(stamp !== undefined && { metadata: stampMetadata(document, stamp) }),
      ...(version === 2 ? membersOfV2(document, pair, signing) : membersOfV1(document)),
      public_key: JSON.stringify(Buffer.from(pair.publicKey).toString("base64")),
    }),
  );
  const signature = sign(
    null,
    Buffer.from(formOf(prepared.object, readVersion(prepared.object)).canonical),
    pair.privateKey,
  ).toString("base64");
  const text = setMembers(prepared, { signature: JSON.stringify(signature) });
  const signed = readSignedSpec(reread(text));
  if (!isSignatureRight(signed)) {
    throw new Error("the signature that was made is not right");
  }
  return { ...signed, text };
}

function reread(text: string): ReadDocument {
  return readDocument(Buffer.from(text));
}

/** The members of a new `metadata`, or of the one that is there. */
function stampMetadata({ text, object, spans }: ReadDocument, stamp: Stamp): string {
  const metadata = object.get("metadata") ?? null;
  const span = spans.get("metadata");
  if (metadata === null || span === undefined) {
    return JSON.stringify(stamp);
  }
  if (!isObject(metadata)) {
    throw new SpecFault("validation_error", "metadata must be an object: timestamp and nonce are put into it");
  }
  return setMembers(reread(text.slice(span.start, span.end)), {
    timestamp: JSON.stringify(stamp.timestamp),
    nonce: JSON.stringify(stamp.nonce),
  });
}

/** The version by default, which needs no member to say so. */
function membersOfV1({ object }: ReadDocument): Record<string, string> {
  return object.has("sig_v") ? { sig_v: "1" } : {};
}

const millisecondsOfSecond = 1_000;

function membersOfV2({ object }: ReadDocument, { publicKey }: KeyPair, signing: Signing): Record<string, string> {
  const { expireMs, audience } = signing;
  // Seconds since 1970, as in other signed tokens that have an `exp` (RFC 7519).
  const own = {
    ...(expireMs !== undefined && { exp: String(Math.floor(expireMs / millisecondsOfSecond)) }),
    ...(audience !== undefined && { aud: JSON.stringify(audience) }),
  };
  for (const name of ["exp", "aud"] as const) {
    if (!(name in own) && !object.has(name)) {
      throw new SpecFault(
        `missing_field:${name}`,
        `${name} is required in version 2: the spec has none, and none was given`,
      );
    }
  }
  return { sig_v: "2", alg: '"Ed25519"', kid: JSON.stringify(thumbprint(publicKey)), ...own };
}
