// Describes the failure of a command: the problem, its reason and its fix, in words for people or as one JSON object.

import { Code, ConnectError } from "@connectrpc/connect";
import { CommanderError } from "commander";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Fault, type FieldViolation } from "../platform/base/fault.ts";
import type { ReasonName } from "../platform/base/reasons.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { findFix, type ProtocolFixes } from "./fixes.ts";
import type { Paint } from "./output.ts";

/** The reason of a usage error. */
const usageReason = "USAGE";
const wordsHelp = "`runnel --help` lists the commands, `runnel <command> --help` what each one takes";
const rateLimited = "RATE_LIMITED" satisfies ReasonName;
const requestIdHeader = "x-request-id";
/** A key of the error's metadata. */
const errorCodeKey = "error_code";

/** A failure as `--json` prints it. */
export interface Failure {
  readonly error: string;
  /** Stable, for programs: the contract's reason if the service gave one. */
  readonly reason: string;
  /** The signing contract's own code of a refused JobSpec. */
  readonly error_code?: string;
  readonly fix?: string;
  /** Finds the call in the service's log. */
  readonly request_id?: string;
  readonly violations?: readonly FieldViolation[];
  /** The stack of a defect, for its report. */
  readonly stack?: string;
}

/** Describes an error of any kind. `protocols` have the fixes for their failures. */
export function explain(error: unknown, protocols: readonly ProtocolFixes[] = []): Failure {
  if (error instanceof CommanderError) {
    return explainUsageError(error);
  }
  if (error instanceof CommandError) {
    const { message, reason, fix, cause } = error;
    const requestId = cause instanceof ConnectError ? requestIdOf(cause) : undefined;
    return {
      error: message,
      reason,
      ...(fix !== undefined && { fix }),
      ...(requestId !== undefined && { request_id: requestId }),
    };
  }
  if (error instanceof Fault) {
    const { message, reason, violations } = error;
    return { error: message, reason, ...withFix(protocols, reason), ...(violations.length > 0 && { violations }) };
  }
  if (error instanceof ConnectError) {
    return explainCall(error, protocols);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    error: error instanceof Error ? error.message : String(error),
    reason: "DEFECT",
    ...(stack !== undefined && { stack }),
  };
}

/** Prints the problem first, then its code, its fix and the request id, each on its own line. */
export function showFailure(
  { error, error_code: errorCode, fix, request_id: requestId, stack }: Failure,
  paint: Paint,
): string {
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

function explainCall(error: ConnectError, protocols: readonly ProtocolFixes[]): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const reason = info?.reason ?? Code[error.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  const errorCode = info?.metadata[errorCodeKey];
  const requestId = requestIdOf(error);
  const violations = error
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) => fieldViolations.map(({ field, description }) => ({ field, description })));
  return {
    error: `${error.rawMessage}${reason === rateLimited ? waitOf(error) : ""}`,
    reason,
    ...(errorCode !== undefined && { error_code: errorCode }),
    ...withFix(protocols, reason, errorCode),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(violations.length > 0 && { violations }),
  };
}

/** Returns `: wait 0.2 s`, or an empty text when the service names no wait. */
function waitOf(error: ConnectError): string {
  const { seconds = 0n, nanos = 0 } = error.findDetails(RetryInfoSchema)[0]?.retryDelay ?? {};
  const tenths = Math.ceil(Number(seconds) * 10 + nanos / 1e8);
  return tenths === 0 ? "" : `: wait ${tenths / 10} s`;
}

function requestIdOf({ metadata }: ConnectError): string | undefined {
  return metadata.get(requestIdHeader) ?? undefined;
}

function withFix(protocols: readonly ProtocolFixes[], reason: string, errorCode = ""): { fix?: string } {
  const fix = findFix(reason, errorCode, protocols);
  return fix === undefined ? {} : { fix };
}
