// The gate of signed JobSpecs. The handlers that accept jobs and the diagnosis that explains them use the same one. It neither
// waits nor writes. The caller reads the body before it (request.ts). After it, the caller takes the nonce, reads the fields
// (job-spec.ts) and plans (plan.ts).
// G1  The order of checks is part of the contract: shape of signature and key, trust, signature, timestamp and form of the
//     nonce, claims of version 2. The first failure is reported.
// G2  The output is the part that was verified. Nothing else may be acted on.
// G3  Only the form of the spec's own version is accepted. One exception: the operator may allow the older rule about empty
//     texts (D1), and each use of it is logged.

import { thumbprint } from "../../../platform/base/public-key.ts";
import { print } from "./canonical-v1.ts";
import { checkClaims } from "./claims.ts";
import { selectMembers } from "./diagnosis/writing.ts";
import type { JsonObject, ReadDocument } from "./json.ts";
import { readStamp, type Stamp, type StampRules } from "./metadata.ts";
import { isSignatureRight, readSignedSpec, type SignedSpec } from "./signature.ts";
import { SpecFault } from "./spec-fault.ts";
import type { TrustVerdict } from "./trust-list.ts";

/** What the service requires of a spec. */
export interface GatePolicy extends StampRules {
  /** The name of this service in the `aud` of specs of version 2. */
  readonly audience: string;
  /** False reports verdicts about trust but refuses no spec because of them. */
  readonly enforcesTrust: boolean;
  /** D1: also accepts signatures that leave out empty texts. Those texts are then not part of what was verified. */
  readonly acceptDroppedEmptyStrings?: boolean;
  judge(publicKey: Uint8Array): TrustVerdict;
}

/** A spec that the gate refuses. */
export interface Refused {
  readonly fault: SpecFault;
  /** Set when the signature is valid and something else is wrong. */
  readonly signed: SignedSpec | undefined;
}

/** A spec that passed the gate. */
export interface Verified extends Stamp {
  readonly fault?: undefined;
  readonly version: 1 | 2;
  /** The signed part as an object. Nothing else of the spec may be acted on. */
  readonly signable: JsonObject;
  /** The text that the signature covers. */
  readonly canonical: string;
  readonly publicKey: Uint8Array;
  /** The key's thumbprint (RFC 7638). The verdict has the key's name in the trust list. */
  readonly kid: string;
  readonly trust: TrustVerdict;
  /** True when only D1's older rule accepted the spec. Callers log it. */
  readonly droppedEmptyStrings: boolean;
}

/** The answer of the gate. */
export type Inspection = Refused | Verified;

/** Checks a spec in the order of G1. */
export function inspect(document: ReadDocument, policy: GatePolicy): Inspection {
  let signed: SignedSpec | undefined;
  try {
    const read = readSignedSpec(document);
    const trust = judge(read, policy);
    signed = checkSignature(read, document, policy);
    const { version, signable, canonical, publicKey } = signed;
    const stamp = readStamp(signable, policy);
    if (version === 2) {
      checkClaims(signable, policy);
    }
    const droppedEmptyStrings = signed !== read;
    return {
      version,
      signable,
      canonical,
      publicKey,
      kid: thumbprint(publicKey),
      trust,
      ...stamp,
      droppedEmptyStrings,
    };
  } catch (error) {
    if (error instanceof SpecFault) {
      return { fault: error, signed };
    }
    throw error;
  }
}

function judge({ publicKey }: SignedSpec, policy: GatePolicy): TrustVerdict {
  const verdict = policy.judge(publicKey);
  if (policy.enforcesTrust && verdict.status !== "trusted") {
    throw new SpecFault(`trust_violation:${verdict.status}`, `untrusted signing key: ${verdict.reason}`);
  }
  return verdict;
}

/** Returns the spec in the form that its signature covers. Throws `signature_mismatch` when neither form fits. */
function checkSignature(signed: SignedSpec, { object }: ReadDocument, policy: GatePolicy): SignedSpec {
  if (isSignatureRight(signed)) {
    return signed;
  }
  if (policy.acceptDroppedEmptyStrings && signed.version === 1) {
    const signable = selectMembers(object, { dropsEmptyTexts: true });
    const older = { ...signed, signable, canonical: print(signable) };
    if (isSignatureRight(older)) {
      return older;
    }
  }
  throw new SpecFault("signature_mismatch", "signature verification failed");
}
