// Redacts texts for a communication log, a run's log or an error. It removes the secrets of this service, no matter who wrote
// them, and everything that looks like a secret of an agent or a wallet.

import { redacted } from "../../../platform/base/hide-credentials.ts";
import { parseJson } from "../../../platform/base/json/parse-object.ts";
import type { Json } from "./json.ts";

/** Replaces the secrets in a text. */
export type Redact = (text: string) => string;

/**
 * Patterns of secrets, each on one line: runner tokens; signatures and keys as 64 digits without `0x` (a transaction's hash has
 * it); wallet signatures; nonces and private keys after a word that names them.
 */
const patterns = [
  /\brnr_[0-9a-f]{8,}/gi,
  /(?<![0-9a-fx])[0-9a-f]{64}(?![0-9a-f])/gi,
  /\b0x[0-9a-f]{130}\b/gi,
  /(?<=(?:private[_ -]?key|secret[_ -]?key|signature)[\\"'`:= \t]{1,8})(?:0x)?[0-9a-f]{64}(?![0-9a-f])/gi,
  /(?<=nonce[\\"'`:= \t]{1,8})[0-9a-f]{32}(?![0-9a-f])/gi,
];

/** Creates the redaction. `scrub` removes the secrets of the settings. */
export function createRedact(scrub: (text: string) => string): Redact {
  return (text) => patterns.reduce((left, pattern) => left.replace(pattern, redacted), scrub(text));
}

/** Prints a value as JSON without secrets, including secrets that only the name of their member reveals. */
export function redactJson(value: Json, redact: Redact, indent = 0): string {
  const text = redact(JSON.stringify(redactTexts(value, redact), null, indent));
  return parseJson(text) === undefined ? JSON.stringify(redacted) : text;
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
