// The timestamp and the nonce of a spec, which are inside the signed bytes. They keep it from being replayed or sent late.
// M1  They are read and checked only after the signature: a spec with a wrong signature never uses up a nonce.
// M2  Both ends of the window are included.

import { isObject, type JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";
import { parseTimeMs } from "./time-text.ts";

const ageMsMax = 600_000;
const aheadMsMax = 300_000;
/** How long a spec may be used if it is sent as early as possible, both ends included. Its nonce has to be kept longer. */
export const nonceUseMs = ageMsMax + aheadMsMax;

const nonceCharactersMax = 128;

/** Timestamp and nonce; undefined when missing. */
export interface Stamp {
  readonly timestampMs: number | undefined;
  readonly nonce: string | undefined;
}

/** Rules for timestamp and nonce. */
export interface StampRules {
  readonly nowMs: number;
  /** False allows them to be missing. If present, they are checked anyway. */
  readonly requiresMetadata: boolean;
}

/** Reads timestamp and nonce. Throws a `SpecFault` when one is invalid, outside of the window, or missing but required. */
export function readStamp(signable: JsonObject, { nowMs, requiresMetadata }: StampRules): Stamp {
  const metadata = signable.get("metadata") ?? undefined;
  if (metadata !== undefined && !isObject(metadata)) {
    throw new SpecFault("validation_error", "metadata must be an object with timestamp and nonce");
  }
  if (metadata === undefined && requiresMetadata) {
    throw new SpecFault("missing_field:metadata", "metadata is required: an object with timestamp and nonce");
  }
  return {
    timestampMs: readTimestamp(metadata, nowMs, requiresMetadata),
    nonce: readNonce(metadata, requiresMetadata),
  };
}

function readTimestamp(metadata: JsonObject | undefined, nowMs: number, requiresMetadata: boolean): number | undefined {
  const value = metadata?.get("timestamp") ?? undefined;
  if (value === undefined) {
    if (requiresMetadata) {
      throw new SpecFault("missing_field:timestamp", "metadata.timestamp is required: the time of signing");
    }
    return undefined;
  }
  if (typeof value !== "string") {
    throw new SpecFault("invalid_field:timestamp", "metadata.timestamp must be text such as 2026-01-31T12:00:00Z");
  }
  const timestampMs = parseTimeMs(value);
  if (timestampMs === undefined) {
    throw timestampFault("format_invalid", "must be a time with a zone, such as 2026-01-31T12:00:00.000Z");
  }
  if (nowMs - timestampMs > ageMsMax) {
    throw timestampFault("too_old", "is more than 10 minutes ago: sign the spec again");
  }
  if (timestampMs - nowMs > aheadMsMax) {
    throw timestampFault("too_far_in_future", "is more than 5 minutes ahead: set the signer's clock");
  }
  return timestampMs;
}

function timestampFault(reason: "format_invalid" | "too_old" | "too_far_in_future", problem: string): SpecFault {
  return new SpecFault("timestamp_invalid", `metadata.timestamp ${problem}`, { reason });
}

function readNonce(metadata: JsonObject | undefined, requiresMetadata: boolean): string | undefined {
  const value = metadata?.get("nonce") ?? undefined;
  if (value === undefined) {
    if (requiresMetadata) {
      throw new SpecFault("missing_field:nonce", "metadata.nonce is required: text that is used once");
    }
    return undefined;
  }
  const length = typeof value === "string" ? [...value].length : 0;
  // Postgres cannot store U+0000 in text.
  if (typeof value !== "string" || length === 0 || length > nonceCharactersMax || value.includes("\0")) {
    const form = `text of 1 to ${nonceCharactersMax} characters, without U+0000`;
    throw new SpecFault("invalid_field:nonce", `metadata.nonce must be ${form}`);
  }
  return value;
}
