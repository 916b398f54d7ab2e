// Signs a JobSpec within its own text. The output has passed the same check that the service makes.

import { randomBytes, sign } from "node:crypto";
import { thumbprint } from "../../../platform/base/public-key.ts";
import { isObject, type ReadDocument, readDocument } from "./json.ts";
import type { KeyPair } from "./key-file.ts";
import { formOf, isSignatureRight, readSignedSpec, readVersion, type SignedSpec } from "./signature.ts";
import { SpecFault } from "./spec-fault.ts";
import { setMembers } from "./splice.ts";

/** How to sign. Members that are not given stay as the spec has them. */
export interface Signing {
  readonly version?: 1 | 2;
  /** `expireMs` (since 1970) and `audience` belong to version 2. */
  readonly expireMs?: number;
  readonly audience?: string;
  readonly stamp?: Stamp;
}

/** Makes a signed spec unique, and says when it was signed. */
export interface Stamp {
  readonly timestamp: string;
  readonly nonce: string;
}

/** Makes a stamp with a nonce like the portal's: 16 random bytes in base64 without padding. */
export function newStamp(nowMs: number): Stamp {
  return { timestamp: new Date(nowMs).toISOString(), nonce: randomBytes(16).toString("base64").slice(0, 22) };
}

/** A signed spec and its text. */
export interface SignedText extends SignedSpec {
  readonly text: string;
}

/** Signs a spec. Throws a `SpecFault` when the spec cannot be signed as `signing` asks. */
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
    throw new Error("the new signature is not valid");
  }
  return { ...signed, text };
}

function reread(text: string): ReadDocument {
  return readDocument(Buffer.from(text));
}

/** Returns the text of a new `metadata`, or of the existing one with the stamp in it. */
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

/** Sets `sig_v` only if the spec has it: version 1 is the default. */
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
        `${name} is required in version 2: give it, or put it into the spec`,
      );
    }
  }
  return { sig_v: "2", alg: '"Ed25519"', kid: JSON.stringify(thumbprint(publicKey)), ...own };
}
