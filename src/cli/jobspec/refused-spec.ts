// The fixes for JobSpecs that a service refuses, by the signing contract's code.

const resign = "mend the spec, then sign it again: `runnel sign <file> --key <file> --stamp`";
const stamp = "sign it again with `runnel sign --stamp`";

/** The fixes by the whole code, or by the part before its colon. */
const fixes: Readonly<Record<string, string>> = {
  invalid_body: resign,
  invalid_json: resign,
  validation_error: resign,
  missing_field: "sign it with `runnel sign <file> --key <file> --stamp`, which sets the missing members",
  "invalid_field:timestamp": stamp,
  "invalid_field:nonce": stamp,
  invalid_field: resign,
  invalid_encoding: "sign it again with `runnel sign`, which writes standard base64",
  weak_public_key: "make another key pair with `runnel keys new`",
  signature_mismatch: "`runnel verify <file>` tells which mistake explains it",
  timestamp_invalid: `set this machine's clock, then ${stamp}`,
  expired: "sign it again with a later --exp",
  wrong_audience: "sign it again with --aud as the service's trust.audience",
  replay_detected: `${stamp} to run it once more; a call that is to be repeated takes --idempotency-key`,
  "trust_violation:unknown": "`runnel keys show <file>` prints the entry that the service's trust list has to have",
  "trust_violation:revoked": "sign it with another key: a revoked one stays so",
  trust_violation: "sign it with a key that is good now, or have its time in the service's trust list changed",
};

/** Returns the fix for a code, or undefined. */
export function fixOfRefusedSpec(errorCode: string): string | undefined {
  return fixes[errorCode] ?? fixes[errorCode.split(":")[0] ?? ""];
}
