// Takes out of a text what nobody may read in a communication log, a run's log or an error: the secrets of this service, whoever
// wrote them there, and what looks like a secret of an agent or a wallet.

import { redacted } from "../../../platform/telemetry/redact.ts";
import type { Json } from "./json.ts";

export type Redact = (text: string) => string;

/**
 * Runner tokens; signatures and keys as 64 digits without `0x` (a transaction's hash has it); signatures of wallets; nonces and
 * private keys that are named as such. All of them are on one line.
 */
const patterns = [
  /\brnr_[0-9a-f]{8,}/gi,
  /(?<![0-9a-fx])[0-9a-f]{64}(?![0-9a-f])/gi,
  /\b0x[0-9a-f]{130}\b/gi,
  /(?<=(?:private[_ -]?key|secret[_ -]?key|signature)[\\"'`:= \t]{1,8})(?:0x)?[0-9a-f]{64}(?![0-9a-f])/gi,
  /(?<=nonce[\\"'`:= \t]{1,8})[0-9a-f]{32}(?![0-9a-f])/gi,
];

/** `scrub` knows the secrets of the settings. */
export function createRedact(scrub: (text: string) => string): Redact {
  return (text) => patterns.reduce((left, pattern) => left.replace(pattern, redacted), scrub(text));
}

/** A value as JSON text without secrets, also such that are named by the member that they stand in. */
export function redactJson(value: Json, redact: Redact, indent = 0): string {
  const text = redact(JSON.stringify(redactTexts(value, redact), null, indent));
  return isJson(text) ? text : JSON.stringify(redacted);
}

function redactTexts(value: Json, redact: Redact): Json {
  if (typeof value === "string") {
    return redact(value);
  }
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((each) => redactTexts(each, redact));
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [redact(name), redactTexts(each, redact)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
