// What the operator can do about a refusal in terms of commands, beyond the message of the service.

import type { ReasonName } from "../platform/base/reasons.ts";

/** The fixes of a protocol. */
export interface ProtocolFixes {
  /** Maps the protocol's reasons of failure to their fixes. */
  readonly fixes?: Readonly<Record<string, string>>;
  /** Returns the fix for a protocol's own code of a failure, or undefined. */
  readonly fixOfCode?: (errorCode: string) => string | undefined;
}

const coreFixes: Readonly<Partial<Record<ReasonName, string>>> = {
  CREDENTIALS_MISSING:
    "`runnel login`, or set RUNNEL_API_KEY, or RUNNEL_AUTH_HMAC_SECRET to sign with the service's secret",
  TOKEN_INVALID:
    "check RUNNEL_API_KEY or the key of `runnel login`, or for administration RUNNEL_ADMIN_TOKEN: the service knows neither key nor token",
  SIGNATURE_INVALID: "check that RUNNEL_AUTH_HMAC_SECRET and RUNNEL_CLIENT_ID are what the service has",
  TIMESTAMP_EXPIRED: "set this machine's clock: signatures are good for 120 s",
  RATE_LIMITED: "raise rate_limit.requests_per_second (RUNNEL_RATELIMIT_RPS) of the service, or call less often",
  SESSION_BUSY: "wait for the session's run to end, follow it with `runnel tail`, or add --queue",
  FILE_NOT_FOUND: "`runnel files list <session>` shows the paths",
  APPROVAL_NOT_FOUND: "`runnel approvals list` shows the ids",
  APPROVAL_CHANGED: "`runnel approvals show <id>` shows the request and its digest",
  APPROVAL_DECIDED: "`runnel approvals show <id>` shows who has decided",
  RUN_ACTIVE: "wait for the run to end: `runnel tail <run>` follows it",
  REQUEST_ID_REUSED: "take another --idempotency-key: this one was used for another document",
  CONCURRENCY_EXHAUSTED: "wait until runs have ended, or raise sessions.max_concurrent of the service",
  API_KEY_NOT_FOUND: "`runnel keys list` shows the ids",
  ADMIN_NOT_CONFIGURED: "start the service with RUNNEL_AUTH_ADMIN_TOKEN, and set RUNNEL_ADMIN_TOKEN to the same here",
};

/** Returns the fix for a reason, or for the narrower `error_code` of a protocol; undefined without one. */
export function findFix(reason: string, errorCode: string, protocols: readonly ProtocolFixes[]): string | undefined {
  const fixes = protocols.flatMap((each) => [each.fixOfCode?.(errorCode), each.fixes?.[reason]]);
  return fixes.find((fix) => fix !== undefined) ?? coreFixes[reason as ReasonName];
}
