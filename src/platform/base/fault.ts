// The catalogue of all failures that a client can see. Code throws `Fault(reason, message)`; each surface maps the reason to
// its own wire form. The cause is logged and never leaves the process.

import { Code } from "@connectrpc/connect";

interface Reason {
  readonly code: Code;
  readonly httpStatus: number;
}

/** Maps a reason to its gRPC code and HTTP status. A reason is part of the contract: renaming one breaks clients. */
export const reasons = {
  INVALID_ARGUMENT: { code: Code.InvalidArgument, httpStatus: 400 },
  CURSOR_INVALID: { code: Code.InvalidArgument, httpStatus: 400 },
  MODEL_UNSUPPORTED: { code: Code.InvalidArgument, httpStatus: 400 },
  TOOL_UNKNOWN: { code: Code.InvalidArgument, httpStatus: 400 },
  CREDENTIALS_MISSING: { code: Code.Unauthenticated, httpStatus: 401 },
  CREDENTIALS_AMBIGUOUS: { code: Code.Unauthenticated, httpStatus: 401 },
  CLIENT_ID_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  NONCE_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  TIMESTAMP_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  TIMESTAMP_EXPIRED: { code: Code.Unauthenticated, httpStatus: 401 },
  SIGNATURE_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  NONCE_REPLAYED: { code: Code.Unauthenticated, httpStatus: 401 },
  TOKEN_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  TICKET_INVALID: { code: Code.Unauthenticated, httpStatus: 401 },
  AUTHORIZATION_MALFORMED: { code: Code.Unauthenticated, httpStatus: 401 },
  ADMIN_NOT_CONFIGURED: { code: Code.FailedPrecondition, httpStatus: 503 },
  ACCESS_DENIED: { code: Code.PermissionDenied, httpStatus: 403 },
  ORIGIN_REFUSED: { code: Code.PermissionDenied, httpStatus: 403 },
  RATE_LIMITED: { code: Code.ResourceExhausted, httpStatus: 429 },
  OVERLOADED: { code: Code.Unavailable, httpStatus: 503 },
  TIMEOUT: { code: Code.DeadlineExceeded, httpStatus: 504 },
  API_KEY_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  TOOL_UNSUPPORTED: { code: Code.Unimplemented, httpStatus: 400 },
  SESSION_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  CALLBACK_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  RUN_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  RUNNER_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  AGENT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  BINDING_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  BINDING_AMBIGUOUS: { code: Code.FailedPrecondition, httpStatus: 409 },
  RUNNER_UNREACHABLE: { code: Code.Unavailable, httpStatus: 502 },
  WORKER_SESSION_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  OFFER_TAKEN: { code: Code.Aborted, httpStatus: 409 },
  ATTEMPT_STALE: { code: Code.FailedPrecondition, httpStatus: 409 },
  GRANT_REFUSED: { code: Code.PermissionDenied, httpStatus: 403 },
  RESOURCE_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  RUN_DEADLINE_EXCEEDED: { code: Code.DeadlineExceeded, httpStatus: 504 },
  PAYLOAD_TOO_LARGE: { code: Code.ResourceExhausted, httpStatus: 413 },
  HOST_CALL_FAILED: { code: Code.Internal, httpStatus: 502 },
  HOST_CALL_UNAVAILABLE: { code: Code.Unavailable, httpStatus: 503 },
  QUOTA_EXHAUSTED: { code: Code.ResourceExhausted, httpStatus: 429 },
  APPROVAL_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  APPROVAL_CHANGED: { code: Code.FailedPrecondition, httpStatus: 409 },
  APPROVAL_DECIDED: { code: Code.FailedPrecondition, httpStatus: 409 },
  APPROVAL_EXPIRED: { code: Code.FailedPrecondition, httpStatus: 409 },
  KNOWLEDGE_BASE_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  EXCHANGE_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  EXCHANGE_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  EXCHANGE_ENDED: { code: Code.FailedPrecondition, httpStatus: 409 },
  INBOX_STALE: { code: Code.FailedPrecondition, httpStatus: 409 },
  COMMUNITY_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  COMMUNITY_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  COMMUNITY_CLOSED: { code: Code.FailedPrecondition, httpStatus: 403 },
  AGENT_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  AGENT_BANNED: { code: Code.PermissionDenied, httpStatus: 403 },
  OWNER_UNKNOWN: { code: Code.FailedPrecondition, httpStatus: 409 },
  THREAD_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  THREAD_TYPE_REFUSED: { code: Code.FailedPrecondition, httpStatus: 403 },
  COMMENT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  CONTRACT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  CONTRACT_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  JOB_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  JOBSPEC_INVALID: { code: Code.InvalidArgument, httpStatus: 400 },
  JOBSPEC_UNTRUSTED: { code: Code.PermissionDenied, httpStatus: 400 },
  JOBSPEC_REPLAYED: { code: Code.AlreadyExists, httpStatus: 400 },
  REPLAY_UNPROTECTED: { code: Code.Unavailable, httpStatus: 503 },
  KEY_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  KEY_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  KEY_REVOKED: { code: Code.FailedPrecondition, httpStatus: 409 },
  RUN_ACTIVE: { code: Code.FailedPrecondition, httpStatus: 409 },
  RECEIPT_UNAVAILABLE: { code: Code.FailedPrecondition, httpStatus: 409 },
  LOG_DAMAGED: { code: Code.DataLoss, httpStatus: 500 },
  MEDIA_TYPE_UNSUPPORTED: { code: Code.InvalidArgument, httpStatus: 415 },
  BODY_TOO_LARGE: { code: Code.ResourceExhausted, httpStatus: 413 },
  SCHEDULE_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  SCHEDULE_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  PRESET_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  SESSION_EXISTS: { code: Code.AlreadyExists, httpStatus: 409 },
  REQUEST_ID_REUSED: { code: Code.AlreadyExists, httpStatus: 409 },
  BUSY: { code: Code.Aborted, httpStatus: 409 },
  SESSION_BUSY: { code: Code.FailedPrecondition, httpStatus: 409 },
  SESSION_MOVED: { code: Code.FailedPrecondition, httpStatus: 409 },
  SESSION_ENDED: { code: Code.FailedPrecondition, httpStatus: 409 },
  CONCURRENCY_EXHAUSTED: { code: Code.ResourceExhausted, httpStatus: 429 },
  RESULTS_EXPIRED: { code: Code.NotFound, httpStatus: 410 },
  OFFSET_BEYOND_END: { code: Code.OutOfRange, httpStatus: 400 },
  RESUME: { code: Code.Unavailable, httpStatus: 503 },
  DATABASE_UNAVAILABLE: { code: Code.Unavailable, httpStatus: 503 },
  LEASE_LOST: { code: Code.Unavailable, httpStatus: 503 },
  RUN_LOST: { code: Code.Aborted, httpStatus: 409 },
  CONFIG_INVALID: { code: Code.FailedPrecondition, httpStatus: 500 },
  INTERNAL: { code: Code.Internal, httpStatus: 500 },
} as const satisfies Record<string, Reason>;

/** The name of a reason. */
export type ReasonName = keyof typeof reasons;

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

  readonly reason: ReasonName;

  constructor(reason: ReasonName, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
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
