// Verifies a signed JobSpec: whether its signature is valid, which usual mistakes explain a wrong one, and whether its key is
// trusted.

import { createHash } from "node:crypto";
import { systemClock } from "../../platform/base/clock.ts";
import { thumbprint } from "../../platform/base/public-key.ts";
import {
  findDifference,
  findMistakes,
  type TextDifference,
} from "../../protocols/jobspec/verification/diagnosis/diagnose.ts";
import type { Mistake } from "../../protocols/jobspec/verification/diagnosis/mistakes.ts";
import type { JsonObject, ReadDocument, Remark } from "../../protocols/jobspec/verification/json.ts";
import {
  formOf,
  isSignatureRight,
  readSignedSpec,
  readVersion,
  type SignedSpec,
} from "../../protocols/jobspec/verification/signature.ts";
import { SpecFault } from "../../protocols/jobspec/verification/spec-fault.ts";
import { parseTrustList, TrustList, type TrustVerdict } from "../../protocols/jobspec/verification/trust-list.ts";
import { CommandError } from "../command-error.ts";
import { assertLength, readInput, specBytesMax } from "../input.ts";
import type { Paint } from "../output.ts";
import { type SignedFormat, showRow, type Verdict } from "../verify/verdict.ts";
import { openSpec, readJson } from "./signing-files.ts";

/** Escapes make the canonical form longer than the spec: at most six characters for one. */
const canonicalBytesMax = 6 * specBytesMax;
const trustListBytesMax = 1_048_576;

interface Finding {
  readonly kind: "jobspec";
  readonly verify: "ok" | "failed";
  readonly isWrapped: boolean;
  readonly error?: string;
  readonly errorCode?: string;
  readonly version?: 1 | 2;
  readonly kid?: string;
  readonly publicKey?: string;
  readonly canonicalSha256?: string;
  readonly canonicalLen?: number;
  /** The mistakes that together explain a wrong signature. */
  readonly pitfalls: readonly Mistake[];
  readonly remarks: readonly Remark[];
  readonly trust?: TrustVerdict;
  /** Where the given bytes differ from the right ones; null when they are equal. */
  readonly difference?: TextDifference | null;
}

/** The format of JobSpecs for `verify`. */
export const jobSpecFormat: SignedFormat = {
  name: "a JobSpec",
  flags: [
    { long: "canonical", about: "the bytes that were signed, to see where they differ from what has to be" },
    { long: "trusted-keys", about: "a list as in TRUSTED_KEYS_JSON, which has to trust the key as well" },
  ],
  verify: verifyJobSpec,
};

interface Flags {
  readonly canonical?: string | undefined;
  readonly trustedKeys?: string | undefined;
}

async function verifyJobSpec(path: string, bytes: Uint8Array, flags: Flags): Promise<Verdict> {
  assertLength(path, bytes, specBytesMax);
  const document = readJson(path, bytes);
  const { spec, wrapper } = openSpec(path, document);
  const trusted = flags.trustedKeys === undefined ? undefined : await readTrustList(flags.trustedKeys);
  const given = flags.canonical === undefined ? undefined : await readInput(flags.canonical, canonicalBytesMax);
  const canonical = canonicalBytes(spec.object);
  const finding: Finding = {
    kind: "jobspec",
    isWrapped: wrapper !== undefined,
    ...judge(spec, wrapper),
    ...(canonical !== undefined && {
      canonicalSha256: createHash("sha256").update(canonical).digest("hex"),
      canonicalLen: canonical.length,
      ...(given !== undefined && { difference: findDifference(canonical, given) ?? null }),
    }),
    remarks: spec.remarks,
  };
  const trust = finding.publicKey === undefined ? undefined : trusted?.judge(decode(finding.publicKey), nowMs());
  const isTrusted = trusted === undefined || trust?.status === "trusted";
  const value = { ...finding, ...(trust !== undefined && { trust }) };
  return { isRight: finding.verify === "ok" && isTrusted, value, show: (paint) => showFinding(value, paint) };
}

type Judgement = Pick<Finding, "verify" | "error" | "errorCode" | "version" | "kid" | "publicKey" | "pitfalls">;

function judge(document: ReadDocument, wrapper: JsonObject | undefined): Judgement {
  try {
    const signed = readSignedSpec(document);
    return { ...judgeSignature(signed, document, wrapper), version: signed.version, ...keyOf(signed) };
  } catch (error) {
    if (error instanceof SpecFault) {
      return { verify: "failed", error: error.message, errorCode: error.code, pitfalls: [] };
    }
    throw error;
  }
}

function judgeSignature(signed: SignedSpec, document: ReadDocument, wrapper: JsonObject | undefined): Judgement {
  if (isSignatureRight(signed)) {
    return { verify: "ok", pitfalls: [] };
  }
  // The mistakes belong to version 1; version 2 leaves no choices to the signer.
  const pitfalls = signed.version === 1 ? findMistakes({ document, wrapper, ...signed }) : [];
  return { verify: "failed", error: "signature verification failed", errorCode: "signature_mismatch", pitfalls };
}

function keyOf({ publicKey }: SignedSpec): Pick<Finding, "kid" | "publicKey"> {
  return { kid: thumbprint(publicKey), publicKey: Buffer.from(publicKey).toString("base64") };
}

/** Returns the canonical bytes, also of a spec without a signature. Returns undefined when the version is invalid. */
function canonicalBytes(spec: JsonObject): Buffer | undefined {
  try {
    return Buffer.from(formOf(spec, readVersion(spec)).canonical);
  } catch (error) {
    if (error instanceof SpecFault) {
      return undefined;
    }
    throw error;
  }
}

async function readTrustList(path: string): Promise<TrustList> {
  const text = (await readInput(path, trustListBytesMax)).toString();
  try {
    return new TrustList(parseTrustList(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = "`runnel keys show <file>` prints an entry for it";
    throw new CommandError(`${path} is not a list of trusted keys: ${why}`, { reason: "INVALID_TRUST_LIST", fix });
  }
}

function decode(base64: string): Uint8Array {
  return Buffer.from(base64, "base64");
}

function nowMs(): number {
  return systemClock.nowMs();
}

function showFinding(finding: Finding, paint: Paint): string {
  const { verify, error, errorCode, version, kid, publicKey, canonicalSha256, canonicalLen, trust } = finding;
  const row = (title: string, text: string): string => showRow(title, text, paint);
  return [
    verify === "ok" ? `${paint("green", "✓")} the signature is right` : `${paint("red", "✗")} ${error} (${errorCode})`,
    ...(finding.isWrapped ? [row("wrapper", "the spec in its member `jobspec` was looked at")] : []),
    ...finding.pitfalls.map(({ pitfall, advice }) => row("pitfall", `${pitfall}: ${advice}`)),
    ...showDifference(finding.difference).map((text) => row("difference", text)),
    ...(kid === undefined ? [] : [row("key", `${publicKey}, kid ${kid}`), row("version", String(version))]),
    ...(trust === undefined ? [] : [row("trust", showTrust(trust, paint))]),
    ...(canonicalSha256 === undefined ? [] : [row("canonical", `sha256 ${canonicalSha256}, ${canonicalLen} bytes`)]),
    ...finding.remarks.map(({ what, path }) => `${paint("yellow", "!")} ${what} at ${JSON.stringify(path)}`),
  ].join("\n");
}

function showTrust({ status, reason, kid }: TrustVerdict, paint: Paint): string {
  const text = `${status}: ${reason}${kid === undefined ? "" : ` (${kid})`}`;
  return status === "trusted" ? text : paint("red", text);
}

/** Quotes the texts, so that spaces and line ends are visible and nothing acts on a terminal. */
function showDifference(difference: TextDifference | null | undefined): string[] {
  if (difference === undefined) {
    return [];
  }
  if (difference === null) {
    return ["none: these are the bytes to sign"];
  }
  const { at, expected, given } = difference;
  return [`at byte ${at}`, `  to sign ${JSON.stringify(expected)}`, `  given   ${JSON.stringify(given)}`];
}
