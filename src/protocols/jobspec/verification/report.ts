// Reports on a spec for its signer: whether its signature is valid, which bytes it has to cover, the probable mistakes, and
// what the gate would say. ("Portal ↔ Runner Signing Contract", Testing and Diagnostics.)
// E1  The report asks the gate itself (gate.ts), so diagnosis and truth cannot differ.
// E2  It has canonical bytes for every JSON object, signed or not.
// E3  `verify` concerns the signature alone; the report has trust, time and fields beside it.

import { createHash } from "node:crypto";
import { atOnce } from "../../../platform/base/steps.ts";
import { canonicalText } from "./canonical-v1.ts";
import { canonicalTextV2 } from "./canonical-v2.ts";
import { findDifference, searchMistakes, type TextDifference } from "./diagnosis/diagnose.ts";
import type { Mistake } from "./diagnosis/mistakes.ts";
import { type GatePolicy, inspect } from "./gate.ts";
import { readClientJobId, readJobSpec } from "./job-spec.ts";
import { isObject, type JsonObject, type ReadDocument, type Remark } from "./json.ts";
import { readBody, type Unwrapped, unwrap } from "./request.ts";
import { formOf, isSignatureOf, readSignedSpec, readVersion, remarkWords, type SignedSpec } from "./signature.ts";
import { SpecFault } from "./spec-fault.ts";
import type { TrustVerdict } from "./trust-list.ts";

/** What the service requires of a spec, including the regions that it may name. */
export interface ReportRules extends GatePolicy {
  readonly allowedRegions: readonly string[];
}

/** A warning about a place in the spec. */
export interface Warning {
  readonly what: Remark["what"] | "wrapper_sent" | "empty_strings_dropped";
  /** As in RFC 6901. */
  readonly path: string;
  readonly sentence: string;
}

/** The report on a spec. */
export interface Report {
  readonly verify: "ok" | "failed";
  /** Why the signature is invalid. */
  readonly fault: SpecFault | undefined;
  /** Why the gate would refuse the spec. A nonce that was used already is not known here. */
  readonly refusal: SpecFault | undefined;
  readonly version: 1 | 2;
  readonly canonical: string;
  readonly canonicalBytes: number;
  /** In hexadecimal. */
  readonly canonicalSha256: string;
  readonly hasExecutionType: boolean;
  readonly hasEstimatedCost: boolean;
  readonly hasCreatedAt: boolean;
  /** The verdict on the key; undefined without a key. */
  readonly trust: TrustVerdict | undefined;
  /** The mistakes that together explain a wrong signature. */
  readonly mistakes: readonly Mistake[];
  readonly warnings: readonly Warning[];
  /** The bytes that the signer says it signed, compared with the canonical bytes. */
  readonly given: GivenBytes | undefined;
}

/** The comparison with the bytes that the signer says it signed. */
export interface GivenBytes {
  /** Undefined when both are the same. */
  readonly difference: TextDifference | undefined;
  /** Whether the signature covers these bytes. False means another key or signature; undefined means that either is missing. */
  readonly isSigned: boolean | undefined;
}

/** Reports on a body; `given` is what the signer says it signed. Throws a `BodyFault` when the body holds no JSON object. */
export function reportOn(body: Uint8Array, rules: ReportRules, given?: Uint8Array): Report {
  return atOnce(reportBySteps(body, rules, given));
}

/** Does the same in steps, because explaining a wrong signature of a large spec takes long. */
export function* reportBySteps(body: Uint8Array, rules: ReportRules, given?: Uint8Array): Generator<void, Report> {
  const unwrapped = unwrap(readBody(body));
  const { document } = unwrapped;
  const read = attempt(() => readSignedSpec(document));
  const inspection = inspect(document, { ...rules, enforcesTrust: false });
  const right = inspection.fault === undefined ? inspection : inspection.signed;
  const version = attempt(() => readVersion(document.object)) ?? 1;
  const { canonical } = right ?? formOf(document.object, version);
  return {
    verify: right === undefined ? "failed" : "ok",
    fault: right === undefined ? inspection.fault : undefined,
    refusal: findRefusal(document, rules),
    version,
    canonical,
    canonicalBytes: Buffer.byteLength(canonical),
    canonicalSha256: createHash("sha256").update(canonical).digest("hex"),
    ...presenceOf(document.object),
    trust: read && rules.judge(read.publicKey),
    mistakes: right === undefined && read !== undefined ? yield* explain(unwrapped, read) : [],
    warnings: warningsOf(unwrapped, right !== undefined && right.canonical !== read?.canonical),
    given: given && compare(canonical, given, read),
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SpecFault) {
      return undefined;
    }
    throw error;
  }
}

function findRefusal(document: ReadDocument, rules: ReportRules): SpecFault | undefined {
  const inspection = inspect(document, rules);
  if (inspection.fault !== undefined) {
    return inspection.fault;
  }
  try {
    readJobSpec(inspection.signable, rules.allowedRegions);
    readClientJobId(document.object);
    return undefined;
  } catch (error) {
    if (error instanceof SpecFault) {
      return error;
    }
    throw error;
  }
}

function presenceOf(spec: JsonObject): Pick<Report, "hasExecutionType" | "hasEstimatedCost" | "hasCreatedAt"> {
  const metadata = spec.get("metadata");
  return {
    hasExecutionType: isObject(metadata) && metadata.has("execution_type"),
    hasEstimatedCost: isObject(metadata) && metadata.has("estimated_cost"),
    hasCreatedAt: spec.has("created_at"),
  };
}

function* explain({ document, wrapper }: Unwrapped, signed: SignedSpec): Generator<void, readonly Mistake[]> {
  const { version, publicKey, signature } = signed;
  const other = version === 1 ? canonicalTextV2(document.object) : canonicalText(document.object);
  if (isSignatureOf(Buffer.from(other), publicKey, signature)) {
    return [version === 1 ? signedAsTwo : signedAsOne];
  }
  // The other mistakes are ways to write version 1.
  return version === 1 ? yield* searchMistakes({ document, publicKey, signature, wrapper }) : [];
}

const signedAsTwo: Mistake = { pitfall: "version_2_signed", advice: "put `sig_v`: 2 into the spec before signing it" };
const signedAsOne: Mistake = {
  pitfall: "version_1_signed",
  advice: "sign the RFC 8785 form of the whole spec without `signature`, or leave `sig_v` out",
};

function warningsOf({ document, wrapper }: Unwrapped, droppedEmptyStrings: boolean): readonly Warning[] {
  const warnings: Warning[] = document.remarks.map(({ what, path }) => ({
    what,
    path,
    sentence: `${path} ${remarkWords[what]}`,
  }));
  if (wrapper !== undefined) {
    warnings.push({ what: "wrapper_sent", path: "/jobspec", sentence: "only the object in jobspec was checked" });
  }
  if (droppedEmptyStrings) {
    const sentence = "accepted because this service also takes signatures that leave empty texts out";
    warnings.push({ what: "empty_strings_dropped", path: "", sentence });
  }
  return warnings;
}

function compare(canonical: string, given: Uint8Array, signed: SignedSpec | undefined): GivenBytes {
  return {
    difference: findDifference(Buffer.from(canonical), given),
    isSigned: signed && isSignatureOf(given, signed.publicKey, signed.signature),
  };
}
