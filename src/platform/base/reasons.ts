// Reasons: the names of all failures that a client can see, each with its codes, its cause and its fix. These are those of the core;
// a protocol has its own in its `reasons.ts`. docs/reference/errors.md is written from both.

import { Code } from "@connectrpc/connect";

/** A reason of failure. Its name is part of the contract: renaming one breaks clients. */
export interface Reason {
  readonly name: string;
  readonly code: Code;
  readonly httpStatus: number;
  /** The cause: what has happened. */
  readonly about: string;
  /** What the caller or the operator can do. */
  readonly fix: string;
}

/** A reason as a catalogue has it. Without an HTTP status it has that of its code. */
type ReasonRow = Omit<Reason, "name" | "httpStatus"> & { readonly httpStatus?: number };

/** The HTTP status of an error that has only a code. */
export const codeStatuses: Record<Code, number> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** Names each reason by its key: `nameReasons({ BUSY: { code, … } }).BUSY.name` is `"BUSY"`. */
export function nameReasons<Name extends string>(
  rows: Readonly<Record<Name, ReasonRow>>,
): Readonly<Record<Name, Reason>> {
  const entries = Object.entries<ReasonRow>(rows);
  return Object.fromEntries(
    entries.map(([name, row]) => [name, { name, httpStatus: codeStatuses[row.code], ...row }]),
  ) as Record<Name, Reason>;
}

/** The reasons of the core. */
export const coreReasons = nameReasons({
  // The request itself.
  INVALID_ARGUMENT: {
    code: Code.InvalidArgument,
    about: "A field of the request is missing or invalid.",
    fix: "Correct the fields that the violations name.",
  },
  CURSOR_INVALID: {
    code: Code.InvalidArgument,
    about: "A position, such as `after` or `page_token`, belongs to another list, run or session.",
    fix: "Send a position of the same list or stream unchanged, or start without one.",
  },
  REQUEST_ID_REUSED: {
    code: Code.AlreadyExists,
    about: "The `request_id` was used for a request with other content.",
    fix: "Send a new `request_id` for each new request, and the same content when you retry.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    code: Code.InvalidArgument,
    httpStatus: 415,
    about: "The content type, charset or content encoding of the body is not supported by this method.",
    fix: "Send an uncompressed body in the type that the message names.",
  },
  BODY_TOO_LARGE: {
    code: Code.ResourceExhausted,
    httpStatus: 413,
    about: "The body of the request is larger than `server.max_body_bytes`, or than the maximum of its method.",
    fix: "Send a smaller body.",
  },
  PAYLOAD_TOO_LARGE: {
    code: Code.ResourceExhausted,
    httpStatus: 413,
    about: "A part of the request, or its answer, is larger than its maximum.",
    fix: "Split it, or shorten it to the maximum that the message names.",
  },
  // Credentials and access.
  CREDENTIALS_MISSING: {
    code: Code.Unauthenticated,
    about: "The call has no credentials, or its signature lacks a header.",
    fix: "Send an API key as bearer token, or sign the request.",
  },
  CREDENTIALS_AMBIGUOUS: {
    code: Code.Unauthenticated,
    about: "The call has several credentials, or one of them twice.",
    fix: "Send one: a bearer token, a ticket or a signature.",
  },
  AUTHORIZATION_MALFORMED: {
    code: Code.Unauthenticated,
    about: "The `Authorization` header of a call of the operator is not a bearer token.",
    fix: "Send `Bearer` and the admin token.",
  },
  CLIENT_ID_INVALID: {
    code: Code.Unauthenticated,
    about: "The `X-Client-ID` header of a signed request is missing or too long.",
    fix: "Send the id of the client that signed the request.",
  },
  NONCE_INVALID: {
    code: Code.Unauthenticated,
    about: "The nonce of the signature is invalid.",
    fix: "Send a new random nonce with each request.",
  },
  NONCE_REPLAYED: {
    code: Code.Unauthenticated,
    about: "A request with this nonce was received before.",
    fix: "Sign each request again, also a retry, with a new nonce.",
  },
  TIMESTAMP_INVALID: {
    code: Code.Unauthenticated,
    about: "The timestamp of the signature is not a number of seconds.",
    fix: "Send the Unix time in seconds.",
  },
  TIMESTAMP_EXPIRED: {
    code: Code.Unauthenticated,
    about: "The timestamp of the signature is too far from the time of the service.",
    fix: "Set the clock of the caller; the metadata may have the difference as `skew_seconds`.",
  },
  SIGNATURE_INVALID: {
    code: Code.Unauthenticated,
    about: "The signature does not match the request, or the client is unknown.",
    fix: "Check the secret and the signed bytes.",
  },
  TOKEN_INVALID: {
    code: Code.Unauthenticated,
    about:
      "The bearer token is unknown, revoked or expired. The metadata has `token_state` for one that is `revoked` or `expired`.",
    fix: "Send a valid API key, or the admin token for calls of the operator.",
  },
  AUTHORIZATION_SERVER_UNREACHABLE: {
    code: Code.Unavailable,
    about: "The keys of the authorization server, which show whether an access token is valid, cannot be read.",
    fix: "Retry later; the operator checks `jwks_url` in `auth.authorization_server`.",
  },
  TICKET_INVALID: {
    code: Code.Unauthenticated,
    about: "The ticket is unknown, expired, or for another stream.",
    fix: "Get another ticket for this stream.",
  },
  ACCESS_DENIED: {
    code: Code.PermissionDenied,
    about: "The credentials are valid and do not permit this call.",
    fix: "Call with the credential that the message names.",
  },
  ORIGIN_REFUSED: {
    code: Code.PermissionDenied,
    about:
      "A page of another origin called the service, or a service without credentials was called by another host name than `localhost`.",
    fix: "Add the origin to `server.cors_origins`. By other host names, call a service that asks for credentials.",
  },
  ADMIN_NOT_CONFIGURED: {
    code: Code.FailedPrecondition,
    httpStatus: 503,
    about: "The service has no admin token, so it refuses the calls of the operator.",
    fix: "Set `RUNNEL_AUTH_ADMIN_TOKEN` for the service.",
  },
  API_KEY_NOT_FOUND: {
    code: Code.NotFound,
    about: "No API key has this id.",
    fix: "List the API keys.",
  },
  // Limits of calls and of work.
  RATE_LIMITED: {
    code: Code.ResourceExhausted,
    about: "The caller or its network has made too many calls.",
    fix: "Retry after the delay that the error names, or raise `rate_limit.requests_per_second`.",
  },
  QUOTA_EXHAUSTED: {
    code: Code.ResourceExhausted,
    about: "A quota is used up, such as the budget of a run or of a day.",
    fix: "Wait until the quota is renewed, or raise it. A retry alone does not help.",
  },
  CONCURRENCY_EXHAUSTED: {
    code: Code.ResourceExhausted,
    about: "The maximum number of active runs, streams or open items is reached.",
    fix: "Retry when one has ended, or raise the maximum that the message names.",
  },
  OVERLOADED: {
    code: Code.Unavailable,
    about: "The service holds too many large requests at once.",
    fix: "Retry after the delay that the error names.",
  },
  TIMEOUT: {
    code: Code.DeadlineExceeded,
    about: "The call took longer than its maximum time.",
    fix: "Retry it; send the same `request_id` if the call creates something.",
  },
  BUSY: {
    code: Code.Aborted,
    about: "Another request is changing the same resource.",
    fix: "Retry after the delay that the error names.",
  },
  // Sessions, runs and their streams.
  SESSION_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no session with this id or name.",
    fix: "Check the id and the credential, or create the session.",
  },
  SESSION_EXISTS: {
    code: Code.AlreadyExists,
    about: "The client already has a session with this name.",
    fix: "Use that session, or another name.",
  },
  SESSION_BUSY: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The session already has an active run.",
    fix: "Wait for its end, cancel it, or send the message with `queue_if_busy`.",
  },
  SESSION_MOVED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The latest run of the session is not the one that the request names.",
    fix: "Read the session again and continue from its latest run.",
  },
  SESSION_ENDED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "Each session of this service takes one message, and this session had it.",
    fix: "Create another session.",
  },
  RUN_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no run with this id.",
    fix: "Check the id and the credential.",
  },
  RUN_ACTIVE: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The call requires a run that has ended.",
    fix: "Repeat the call after the end of the run.",
  },
  SEARCH_OFF: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The service keeps no texts of runs for search: the setting `runs.search` is off.",
    fix: "List runs by their filters, or switch `runs.search` on.",
  },
  RESULTS_EXPIRED: {
    code: Code.NotFound,
    httpStatus: 410,
    about: "The retention of the run's results is over.",
    fix: "Read the run itself, which has its status and output.",
  },
  OFFSET_BEYOND_END: {
    code: Code.OutOfRange,
    about: "The run has ended before the position `after`.",
    fix: "Check that the position belongs to this run.",
  },
  RESUME: {
    code: Code.Unavailable,
    about: "The service ended the stream, for instance because a replica stops. The run continues.",
    fix: "Call again with the last received position as `after`.",
  },
  SCHEDULE_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no schedule with this id.",
    fix: "List the schedules.",
  },
  SCHEDULE_EXISTS: {
    code: Code.AlreadyExists,
    about: "The client already has a schedule with this id.",
    fix: "Delete it first, or use another id.",
  },
  PRESET_NOT_FOUND: {
    code: Code.NotFound,
    about: "The service has no preset with this name.",
    fix: "Use one of the presets that the message names, or add it to the settings.",
  },
  CALLBACK_NOT_FOUND: {
    code: Code.NotFound,
    about: "No status callback has this id.",
    fix: "List the callbacks.",
  },
  AGENT_NOT_FOUND: {
    code: Code.NotFound,
    about: "No agent has this id.",
    fix: "Check the id, or create the agent first.",
  },
  RESOURCE_NOT_FOUND: {
    code: Code.NotFound,
    about: "The path or a resource that the call names does not exist, or no longer exists.",
    fix: "Check the name; the message names the missing part.",
  },
  // Files of sessions.
  FILE_NOT_FOUND: {
    code: Code.NotFound,
    httpStatus: 404,
    about: "The work directory has nothing at this path.",
    fix: "List the directory.",
  },
  FILE_REFUSED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The path leads to something that the service does not open.",
    fix: "Read the message, which says why, and name another path.",
  },
  WORK_DIR_UNAVAILABLE: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The replica that answers has no work directory of this session, or may not read it.",
    fix: "Call after a tool of the session has worked; with several replicas, set `sessions.work_root` to a directory that all share.",
  },
  // Memory.
  MEMORY_NOT_FOUND: {
    code: Code.NotFound,
    about: "The memory has no entry with this key.",
    fix: "List the memory, and check whose it is: of the session, the agent or the client.",
  },
  MEMORY_CHANGED: {
    code: Code.Aborted,
    about: "The entry of the memory does not have the version that the call expects: another call has written it.",
    fix: "Read the entry, and write again with its version.",
  },
  MEMORY_FULL: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The memory has its maximum number of entries or of bytes.",
    fix: "Delete or shorten entries.",
  },
  // Servers of MCP.
  MCP_SERVER_NOT_FOUND: {
    code: Code.NotFound,
    httpStatus: 404,
    about: "The setting `mcp.servers` has no server of this name for the client.",
    fix: "List the servers, or give the URL of the server.",
  },
  MCP_TOOL_NOT_FOUND: {
    code: Code.NotFound,
    httpStatus: 404,
    about: "The MCP server has no tool of this name, or the request does not allow it.",
    fix: "List the tools of the server.",
  },
  MCP_SERVER_FAILED: {
    code: Code.Unavailable,
    httpStatus: 502,
    about:
      "An MCP server cannot be reached, or gave no list of its tools. A run of a runner that needs it has not started.",
    fix: "Read the message, which names the server. Correct its address or the binding, or call again when the server answers.",
  },
  // Approvals.
  APPROVAL_NOT_FOUND: {
    code: Code.NotFound,
    about: "The client has no approval with this id.",
    fix: "List the approvals.",
  },
  APPROVAL_CHANGED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The digest of the decision does not match the approval.",
    fix: "Read the approval again, then decide on its current content.",
  },
  APPROVAL_DECIDED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The approval already has a decision.",
    fix: "Read the approval: it shows the decision.",
  },
  APPROVAL_EXPIRED: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The approval has expired, or its run has ended.",
    fix: "Start another run.",
  },
  // Models and tools.
  MODEL_UNSUPPORTED: {
    code: Code.InvalidArgument,
    about: "The model is unknown, has no configured provider, or has no price for a budget.",
    fix: "Use another model, or configure its provider; the message names the setting.",
  },
  TOOL_UNKNOWN: {
    code: Code.InvalidArgument,
    about: "The session asks for a built-in tool that does not exist.",
    fix: "Use the name of a built-in tool.",
  },
  TOOL_UNSUPPORTED: {
    code: Code.Unimplemented,
    httpStatus: 400,
    about: "This service cannot offer the tool, for instance because the machine lacks something that the tool needs.",
    fix: "Read the message, which names the missing part, or start the session without the tool.",
  },
  // Receipts.
  RECEIPT_UNAVAILABLE: {
    code: Code.FailedPrecondition,
    httpStatus: 409,
    about: "The run has no receipt.",
    fix: "Read the message, which says why.",
  },
  LOG_DAMAGED: {
    code: Code.DataLoss,
    about: "The stored log of the run differs from the log that was written.",
    fix: "Restore the log from a backup, and find out who changed the database.",
  },
  // The service itself.
  DATABASE_UNAVAILABLE: {
    code: Code.Unavailable,
    about: "The service cannot use its database.",
    fix: "Retry after a moment; the operator checks the database.",
  },
  LEASE_LOST: {
    code: Code.Unavailable,
    about: "The replica lost its lease, and another replica continues its runs.",
    fix: "Retry the call; another replica answers.",
  },
  RUN_LOST: {
    code: Code.Aborted,
    about: "Another replica owns the run now.",
    fix: "Retry the call; another replica answers.",
  },
  CONFIG_INVALID: {
    code: Code.FailedPrecondition,
    httpStatus: 500,
    about: "A setting of the service, or a part of its contract, is invalid.",
    fix: "Correct the setting that the message names.",
  },
  INTERNAL: {
    code: Code.Internal,
    about: "The service met an error that it does not expect.",
    fix: "Find the request id in the log of the service, and report the error.",
  },
});

/** The name of a reason of the core. */
export type ReasonName = keyof typeof coreReasons;
