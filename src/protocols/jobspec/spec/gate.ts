// The gate of signed JobSpecs, used alike by whoever takes jobs and by whoever explains them. Nothing here waits or writes: the
// caller reads the body before (request.ts), and after it takes the nonce, reads the fields (job-spec.ts) and plans (plan.ts).
// G1  In this order, which is part of the contract: shape of signature and key, trust, signature, timestamp and nonce's form, what
//     version 2 says of itself. The first that is not right is told.
// G2  What comes out is what was verified, and all that may be acted on.
// G3  Nothing but the form that the spec's version has is accepted, unless the operator lets the older rule about empty texts count
//     (D1); then this is told with each use.

import { thumbprint } from "../../../platform/base/public-key.ts";
import { print } from "./canonical-v1.ts";
import { checkClaims } from "./claims.ts";
import { selectMembers } from "./diagnosis/writing.ts";
import type { JsonObject, ReadDocument } from "./json.ts";
import { readStamp, type Stamp, type StampRules } from "./metadata.ts";
import { isSignatureRight, readSignedSpec, type SignedSpec } from "./signature.ts";
import { SpecFault } from "./spec-fault.ts";
import type { TrustVerdict } from "./trust-list.ts";

export interface GatePolicy extends StampRules {
  /** Who this service is, to specs of version 2. */
  readonly audience: string;
  /** Otherwise verdicts are told, and refuse nobody. */
  readonly enforcesTrust: boolean;
  /** D1: also accept what is signed without members that are empty texts. They are then not part of what was verified. */
  readonly acceptDroppedEmptyStrings?: boolean;
  judge(publicKey: Uint8Array): TrustVerdict;
}

export interface Refused {
  readonly fault: SpecFault;
  /** Where the signature is right, and it is something else that is not. */
  readonly signed: SignedSpec | undefined;
}

export interface Verified extends Stamp {
  readonly fault?: undefined;
  readonly version: 1 | 2;
  /** All that is signed, and so all that may be acted on. */
  readonly signable: JsonObject;
  /** The text that the signature is over. */
  readonly canonical: string;
  readonly publicKey: Uint8Array;
  /** The key's thumbprint (RFC 7638). Its name in the trust list is in the verdict. */
  readonly kid: string;
  readonly trust: TrustVerdict;
  /** Accepted by D1's older rule alone: to be logged. */
  readonly droppedEmptyStrings: boolean;
}

export type Inspection = Refused | Verified;

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

/** The spec as its signature is right for it. */
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
