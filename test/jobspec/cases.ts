// The shared cases of the signing contract.

import { readFileSync } from "node:fs";

export interface Case {
  readonly name: string;
  readonly group: "canonical" | "canonical-error" | "verify";
  readonly why: string;
  readonly input?: string | null;
  readonly input_b64?: string;
  /** Null for input that is refused before it has a canonical form. */
  readonly canonical: string | null;
  readonly sha256: string;
  readonly len: number;
  readonly verify: "ok" | "failed";
  readonly error?: string;
  readonly trust_status?: string;
  readonly trust_reason?: string;
}

export interface TrustCases {
  readonly now: string;
  readonly trusted_keys_json: readonly { kid: string; public_key: string; status: string; [time: string]: string }[];
  readonly cases: readonly { public_key: string; now: string; status: string; reason: string }[];
  readonly load_errors: readonly { json: string; error: string }[];
}

export const { vectors, trust }: { vectors: readonly Case[]; trust: TrustCases } = JSON.parse(
  readFileSync(new URL("../vectors/jobspec.json", import.meta.url), "utf8"),
);

export function bodyOf({ input, input_b64 }: Case): Uint8Array {
  return input_b64 === undefined ? Buffer.from(input ?? "") : Buffer.from(input_b64, "base64");
}
