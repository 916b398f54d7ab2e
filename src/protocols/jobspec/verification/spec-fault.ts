// Why a JobSpec is refused, in the codes and words of the service that the signing contract is from.

/** The codes of refusals. */
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

/** A JobSpec that is refused. */
export class SpecFault extends Error {
  override readonly name: string = "SpecFault";
  readonly code: SpecFaultCode;
  /** Details for programs, such as why a timestamp is invalid. */
  readonly details: Readonly<Record<string, string>>;

  constructor(code: SpecFaultCode, message: string, details: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/**
 * A fault of the body, found before the spec is read. The contract's service reports it in another form: the code as `error`,
 * the text as `message`.
 */
export class BodyFault extends SpecFault {
  override readonly name = "BodyFault";
}
