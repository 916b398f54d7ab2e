// Why a JobSpec is refused, in the codes and words of the service that the signing contract is from.

export type SpecFaultCode =
  | "invalid_body"
  | "invalid_json"
  | "validation_error"
  | `missing_field:${"signature" | "public_key" | "metadata" | "timestamp" | "nonce" | "kid" | "alg" | "exp" | "aud"}`
  | `invalid_field:${"timestamp" | "nonce" | "sig_v" | "kid" | "alg" | "exp" | "aud"}`
  | `invalid_encoding:${"signature" | "public_key"}`
  | "weak_public_key"
  | "signature_mismatch"
  | "timestamp_invalid"
  | "expired"
  | "wrong_audience"
  | "replay_detected"
  | `trust_violation:${"unknown" | "revoked" | "not_yet_valid" | "expired"}`;

export class SpecFault extends Error {
  override readonly name: string = "SpecFault";
  readonly code: SpecFaultCode;
  /** More for programs, such as why a timestamp is not good. */
  readonly details: Readonly<Record<string, string>>;

  constructor(code: SpecFaultCode, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Found before the spec is looked at, and told in another form by that service: its code as the error, its text as the message. */
export class BodyFault extends SpecFault {
  override readonly name = "BodyFault";
}
