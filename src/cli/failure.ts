// Describes the failure of a command: the problem, its reason and its fix, in words for people or as one JSON object.

import { Code, ConnectError } from "@connectrpc/connect";
import { CommanderError } from "commander";
import { BadRequestSchema, ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Fault, type FieldViolation, type ReasonName } from "../platform/base/fault.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Paint } from "./output.ts";
import { fixOfRefusedSpec } from "./refused-spec.ts";

/** The reason of a usage error. */
const usageReason = "USAGE";
const wordsHelp = "`runnel --help` lists the commands, `runnel <command> --help` what each one takes";
const requestIdHeader = "x-request-id";
/** A key of the error's metadata. */
const errorCodeKey = "error_code";

/** A failure as `--json` prints it. */
export interface Failure {
  readonly error: string;
  /** Stable, for programs: the contract's reason if the service gave one. */
  readonly reason: string;
  /** The signing contract's own code of a refused JobSpec. */
  readonly errorCode?: string;
  readonly fix?: string;
  /** Finds the call in the service's log. */
  readonly requestId?: string;
  readonly violations?: readonly FieldViolation[];
  /** The stack of a defect, for its report. */
  readonly stack?: string;
}

/** Describes an error of any kind. */
export function explain(error: unknown): Failure {
  if (error instanceof CommanderError) {
    return explainUsageError(error);
  }
  if (error instanceof CommandError) {
    return { error: error.message, reason: error.reason, ...(error.fix !== undefined && { fix: error.fix }) };
  }
  if (error instanceof Fault) {
    const { message, reason, violations } = error;
    return { error: message, reason, ...withFix(reason), ...(violations.length > 0 && { violations }) };
  }
  if (error instanceof ConnectError) {
    return explainCall(error);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    error: error instanceof Error ? error.message : String(error),
    reason: "DEFECT",
    ...(stack !== undefined && { stack }),
  };
}

/** Prints the problem first, then its code, its fix and the request id, each on its own line. */
export function showFailure({ error, errorCode, fix, requestId, stack }: Failure, paint: Paint): string {
  return [
    `${paint("red", "runnel:")} ${stack ?? error}`,
    ...(errorCode === undefined ? [] : [`  ${paint("bold", "code")}     ${errorCode}`]),
    ...(fix === undefined ? [] : [`  ${paint("bold", "fix")}      ${fix}`]),
    ...(requestId === undefined ? [] : [`  ${paint("bold", "request")}  ${requestId}`]),
  ].join("\n");
}

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.invalidUsage;
  }
  return error instanceof CommandError ? error.exitCode : exitCodes.failed;
}

/** Returns true for the help of a command without its verb: commander has printed it already. */
export function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.code === "commander.help";
}

/** In `error: unknown command 'rnu'\n(Did you mean run?)` the second line is the fix. */
function explainUsageError(error: CommanderError): Failure {
  const [, what = "", suggestion] = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(error.message) ?? [];
  return {
    error: isHelp(error) ? "no command was given" : what,
    reason: usageReason,
    fix: suggestion ?? wordsHelp,
  };
}

function explainCall(error: ConnectError): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const reason = info?.reason ?? Code[error.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  const errorCode = info?.metadata[errorCodeKey];
  const requestId = error.metadata.get(requestIdHeader) ?? undefined;
  const violations = error
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) => fieldViolations.map(({ field, description }) => ({ field, description })));
  return {
    error: error.rawMessage,
    reason,
    ...(errorCode !== undefined && { errorCode }),
    ...withFix(reason, errorCode),
    ...(requestId !== undefined && { requestId }),
    ...(violations.length > 0 && { violations }),
  };
}

/** What the operator can do about a refusal, beyond the message of the service. */
const fixes: Readonly<Partial<Record<ReasonName, string>>> = {
  CREDENTIALS_MISSING: "set RUNNEL_API_KEY, or RUNNEL_AUTH_HMAC_SECRET to sign with the service's secret",
  TOKEN_INVALID:
    "check RUNNEL_API_KEY, or for administration RUNNEL_ADMIN_TOKEN: the service knows neither key nor token",
  SIGNATURE_INVALID: "check that RUNNEL_AUTH_HMAC_SECRET and RUNNEL_CLIENT_ID are what the service has",
  TIMESTAMP_EXPIRED: "set this machine's clock: signatures are good for 120 s",
  RATE_LIMITED: "wait a moment, or raise RUNNEL_RATELIMIT_RPS of the service",
  SESSION_BUSY: "wait for the session's run to end, follow it with `runnel tail`, or add --queue",
  JOB_NOT_FOUND: "`runnel jobs list` shows the ids",
  RUNNER_NOT_FOUND: "`runnel runners list` shows the ids; its worker registers a runner",
  BINDING_NOT_FOUND: "`runnel runners bindings` shows what there is, `runnel runners bind <file>` puts one",
  BINDING_AMBIGUOUS: "disable or delete all but one: `runnel runners unbind <id>`",
  APPROVAL_NOT_FOUND: "`runnel approvals list` shows the ids",
  APPROVAL_CHANGED: "`runnel approvals show <id>` shows the request and its digest",
  APPROVAL_DECIDED: "`runnel approvals show <id>` shows who has decided",
  RUN_ACTIVE: "wait for the run to end: `runnel tail <run>` follows it",
  REQUEST_ID_REUSED: "take another --idempotency-key: this one was used for another document",
  CONCURRENCY_EXHAUSTED: "wait until runs have ended, or raise sessions.max_concurrent of the service",
  EXCHANGE_NOT_FOUND: "`runnel exchange resume <session>` brings the service what sessions/ has of it",
  EXCHANGE_ENDED: "`runnel exchange new <task>` starts another one",
  INBOX_STALE: "answer the newest outbox, or take the Session and Sequence lines out of the text",
  API_KEY_NOT_FOUND: "`runnel keys list` shows the ids",
  ADMIN_NOT_CONFIGURED: "start the service with RUNNEL_AUTH_ADMIN_TOKEN, and set RUNNEL_ADMIN_TOKEN to the same here",
  KEY_NOT_FOUND: "`runnel trust list` shows the names",
  KEY_EXISTS: "`runnel trust list` shows it; `runnel trust update` changes when, for whom and where it is good",
  KEY_REVOKED: "`runnel trust add` adds another key",
};

function withFix(reason: string, errorCode = ""): { fix?: string } {
  const fix = fixOfRefusedSpec(errorCode) ?? fixes[reason as ReasonName];
  return fix === undefined ? {} : { fix };
}
