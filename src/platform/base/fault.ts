// The failures that a client can see. Code throws `Fault(reason, message)`; each surface maps the reason to its own wire form.
// The cause is logged and never leaves the process.

import type { Code } from "@connectrpc/connect";
import { coreReasons, type Reason, type ReasonName } from "./reasons.ts";

/** One invalid field: `field` is its path in the request, `description` says what to do. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** The optional parts of a fault. */
export interface FaultOptions {
  readonly cause?: unknown;
  /** Small facts for programs that handle the error. They are sent to the client. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly FieldViolation[];
  readonly retryAfterMs?: number;
}

/** The error that code throws for a failure that a client can see. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterMs: number | undefined;

  /** The name of the reason. */
  readonly reason: string;
  readonly code: Code;
  readonly httpStatus: number;

  /** Takes the name of a reason of the core, or a reason of a protocol. */
  constructor(reason: ReasonName | Reason, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const { name, code, httpStatus } = typeof reason === "string" ? coreReasons[reason] : reason;
    this.reason = name;
    this.code = code;
    this.httpStatus = httpStatus;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Returns a fault INVALID_ARGUMENT for one field: `invalid name: must not be empty`. The message names the field and the fix.
 */
export function invalidField(field: string, description: string): Fault {
  return new Fault("INVALID_ARGUMENT", `invalid ${field}: ${description}`, { violations: [{ field, description }] });
}
