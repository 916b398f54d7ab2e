// The catalogue of events for the operator. A component reports what happened; a row here decides its level. Each event has its
// own function, so names and fields are stable.

import { isMessage } from "@bufbuild/protobuf";
import { describeError } from "./error-fields.ts";
import type { Logger } from "./logger.ts";
import { redactMessage } from "./redact.ts";

/** The level of an event. `none`: counted but never logged, because it is too frequent or says too little by itself. */
export type EventLevel = "debug" | "info" | "warn" | "error" | "none";

/** One event of the catalogue. */
export interface EventRow<Fields> {
  readonly name: string;
  readonly level: EventLevel;
  /** One sentence for readers of the log. */
  readonly about: string;
  /** Carries the type of the fields; never set. */
  readonly fields?: Fields;
}

/** Fields of the access log. */
export interface RequestFields {
  readonly requestId: string;
  readonly method: string;
  /** `<service>/<method>` on every surface; empty for a request that is no RPC. */
  readonly rpc: string;
  /** Without the query. */
  readonly path: string;
  /** HTTP status; 0 when the client left before it was known. gRPC sends its own status in the trailers. */
  readonly status: number;
  readonly address: string;
  readonly durationMs: number;
  readonly client?: string;
  /** Why the caller was refused. */
  readonly reason?: string;
}

/** Fields of a model request. */
export interface ModelFields {
  readonly provider: string;
  readonly model: string;
  /** `ok`, or the code of the failure. */
  readonly code: string;
  readonly durationMs: number;
  /** The time until the first part of the answer. */
  readonly firstPartMs?: number | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

interface CallFields {
  readonly service: string;
  readonly method: string;
}

type OnRun<Fields> = { readonly runId: string } & Fields;
type OnCallback<Fields> = { readonly callbackId: string; readonly attempts: number } & Fields;
type Trouble = { readonly part: string; readonly error: unknown };

/** All events. */
export const catalogue = {
  serverListening: row<{
    host: string;
    port: number;
    h2Port: number | undefined;
    metricsPort: number | undefined;
  }>("server.listening", "info", "The service answers at these ports."),
  callbackRefused: row<{ why: string }>(
    "callback.refused",
    "warn",
    "The callback URL of the settings is one that this service may not call.",
  ),
  logDropped: row<{ lines: number }>(
    "log.dropped",
    "warn",
    "Whoever reads the log was too slow for so many lines, or had no room for them; none waited for that.",
  ),
  databaseTroubled: row<Trouble>("database.troubled", "warn", "A part could not use the database and will try again."),
  postgresAdopted: row<{ directory: string }>(
    "postgres.adopted",
    "warn",
    "The embedded Postgres was still running after its last service had died; this service uses it and will stop it.",
  ),
  clockCorrected: row<{ aheadMs: number }>(
    "clock.corrected",
    "warn",
    "This machine's clock is wrong by so much; the service goes by the database's.",
  ),
  migrationsApplied: row<{ names: readonly string[] }>(
    "migrations.applied",
    "info",
    "The schema was brought up to date.",
  ),
  leaseAcquired: row<{ replicaId: string }>("lease.acquired", "info", "This replica may own runs, under a new id."),
  leaseLost: row<{ replicaId: string; why: string }>(
    "lease.lost",
    "warn",
    "This replica lost the right to write; its runs go on elsewhere and it takes a new id.",
  ),
  replicaReaped: row<{ replicaId: string }>(
    "replica.reaped",
    "warn",
    "Another replica fell silent; its runs are free to take.",
  ),
  /** `queueWaitMs` is known only for the first start of a run. */
  runStarted: row<OnRun<{ epoch: number; queueWaitMs?: number | undefined }>>(
    "run.started",
    "info",
    "A replica took up a run: a new one, or one that was parked or handed on.",
  ),
  runFinished: row<OnRun<{ status: string; code: string; durationMs: number; turns: number }>>(
    "run.finished",
    "info",
    "A run got its terminal result; the code says why it failed, or with what reason it completed.",
  ),
  runTakenOver: row<OnRun<{ takeovers: number }>>(
    "run.taken_over",
    "warn",
    "A run whose replica was lost goes back to the queue.",
  ),
  runLost: row<OnRun<{ code: string }>>(
    "run.lost",
    "warn",
    "A run whose replica was lost cannot go on and has failed.",
  ),
  runDisowned: row<OnRun<unknown>>(
    "run.disowned",
    "warn",
    "A run that this replica owned without working on it goes back to the queue.",
  ),
  runAbandoned: row<OnRun<{ error: unknown }>>(
    "run.abandoned",
    "error",
    "A run could not be settled; the lease or the deadline ends it.",
  ),
  driverFailed: row<OnRun<{ driver: string; error: unknown }>>(
    "driver.failed",
    "error",
    "A driver threw: a defect; its run has failed.",
  ),
  loopDetected: row<OnRun<{ tool: string }>>(
    "loop.detected",
    "warn",
    "A model repeated the same tool call and was told to do something else.",
  ),
  logDamaged: row<OnRun<unknown>>(
    "log.damaged",
    "error",
    "The stored log of a run is not the one that was written: somebody or something has changed it.",
  ),
  jobspecRefused: row<{ client: string; code: string }>(
    "jobspec.refused",
    "info",
    "A JobSpec was not accepted; the trust audit has more.",
  ),
  emptyTextsDropped: row<{ client: string; kid: string }>(
    "jobspec.empty_texts_dropped",
    "warn",
    "A JobSpec was accepted by the older rule, by which empty texts are not signed.",
  ),
  cycleNotStarted: row<{ agentId: string; error: unknown }>(
    "cycle.not_started",
    "warn",
    "A decision cycle was due and could not be started; it is tried again.",
  ),
  budgetReached: row<OnRun<{ budget: string }>>(
    "budget.reached",
    "warn",
    "A run was stopped by a limit on what it uses.",
  ),
  modelResponded: row<ModelFields>("model.responded", "debug", "A model's answer is over, or failed with this code."),
  circuitOpened: row<{ provider: string; failures: number; retryInMs: number }>(
    "circuit.opened",
    "warn",
    "A provider failed so often that it is not asked for a while.",
  ),
  circuitHalfOpened: row<{ provider: string }>(
    "circuit.half_opened",
    "info",
    "One call tries whether a provider is back.",
  ),
  circuitClosed: row<{ provider: string }>("circuit.closed", "info", "A provider answers again."),
  toolFinished: row<{ tool: string; outcome: string; durationMs: number }>(
    "tool.finished",
    "debug",
    "A tool call is over.",
  ),
  toolsMended: row<{ client: string; session: string; problems: readonly string[] }>(
    "tools.mended",
    "warn",
    "Schemas of a session's remote tools are wrong in part: a keyword or a whole tool was left out, or arguments are not checked.",
  ),
  commandKilled: row<{ limit: string }>(
    "command.killed",
    "none",
    "A command of the tool bash was killed for this limit; the model reads of it in the tool's result.",
  ),
  jailMissing: row<{ problem: string; fix: string }>(
    "jail.missing",
    "warn",
    "Commands cannot be confined here: agents that ask for bash are refused.",
  ),
  jailOff: row<object>(
    "jail.off",
    "warn",
    "The settings turn the jail off: commands of agents can do what the service can, and read what it can read.",
  ),
  egressDenied: row<{ kind: string }>(
    "egress.denied",
    "none",
    "What a caller named is nothing that this service may call; the caller or the model reads why.",
  ),
  trustListLoaded: row<{ keys: number }>(
    "trust.list_loaded",
    "info",
    "The file of trusted keys was read again: it has changed, or is good again.",
  ),
  trustListFailed: row<{ error: unknown }>(
    "trust.list_failed",
    "error",
    "The file of trusted keys could not be read again; the last good list counts, and this replica is not ready.",
  ),
  sessionsExpired: row<{ sessions: number }>("sessions.expired", "info", "Sessions reached the end of their time."),
  sessionsErased: row<{ sessions: number; runs: number }>(
    "sessions.erased",
    "info",
    "Sessions that were deleted or had expired were removed with their runs.",
  ),
  sessionPurged: row<{ runs: number; results: number }>(
    "session.purged",
    "info",
    "The texts of a session's results were erased on request.",
  ),
  callbackDelivered: row<OnCallback<{ durationMs: number }>>(
    "callback.delivered",
    "debug",
    "The host that a session calls back took a status callback.",
  ),
  callbackFailed: row<OnCallback<{ error: unknown; retryInMs: number }>>(
    "callback.failed",
    "info",
    "A status callback was not taken; it is sent again later, and the session's next ones wait for it.",
  ),
  callbackDead: row<OnCallback<{ error: unknown }>>(
    "callback.dead",
    "warn",
    "A status callback was not taken for so long that it is given up; the session's next ones go on.",
  ),
  partitionsDropped: row<{ names: readonly string[] }>(
    "partitions.dropped",
    "info",
    "Logs older than the retention were removed.",
  ),
  tracesTroubled: row<{ error: unknown }>(
    "traces.troubled",
    "warn",
    "Spans do not reach the collector; runs are not affected.",
  ),
  maintenanceFailed: row<Trouble>("maintenance.failed", "warn", "A part of the store's upkeep failed; it comes again."),
  partitionMissed: row<{ rows: number }>(
    "partition.missed",
    "error",
    "Results lie outside every daily partition, where retention does not find them.",
  ),
  requestStarted: row<object>("request.started", "none", "A request has come."),
  requestFinished: row<RequestFields>("request.finished", "info", "A request is over."),
  requestFailed: row<{ method: string; error: unknown }>(
    "request.failed",
    "error",
    "A request met an error that nobody foresaw; its caller learns only that.",
  ),
  callStarted: row<CallFields>("call.started", "none", "A call of the contract begins, on whatever surface."),
  callFinished: row<CallFields & { code: string; durationMs: number }>(
    "call.finished",
    "none",
    "A call is over, with this gRPC code.",
  ),
  callRefused: row<CallFields & { code: string }>("call.refused", "none", "A call was refused before it began."),
  readerJoined: row<{ transport: string }>("reader.joined", "none", "Somebody follows a run or a session."),
  readerLeft: row<{ transport: string }>("reader.left", "none", "A reader is gone, for whatever reason."),
  readerDropped: row<{ reason: string }>(
    "reader.dropped",
    "none",
    "The service ended a stream that was not at its end.",
  ),
  signatureTimed: row<{ skewSeconds: number }>(
    "signature.timed",
    "none",
    "A signed request said when it was made: this far from our clock.",
  ),
  batchWritten: row<{ results: number; durationMs: number }>(
    "batch.written",
    "none",
    "A lane of the log committed a batch of results.",
  ),
  resultsShown: row<{ lagMs: number }>(
    "results.shown",
    "none",
    "A reader that waited got results this long after they were known to be committed.",
  ),
  statementFinished: row<{ durationMs: number }>("statement.finished", "none", "The database answered a statement."),
} as const;

/** The name of an event in code. */
export type EventName = keyof typeof catalogue;
/** The fields of an event. */
export type EventFields<Name extends EventName> = NonNullable<(typeof catalogue)[Name]["fields"]>;
/** One function per event. The functions never throw and never wait. */
export type Events = { readonly [Name in EventName]: (fields: EventFields<Name>) => void };
/** Other consumers of events, such as counters. */
export type EventListeners = { readonly [Name in EventName]?: ((fields: EventFields<Name>) => void) | undefined };

/** Returns the functions of all events. Fields are redacted before they reach the log: see `redactFields`. */
export function createEvents(logger: Logger, listeners: EventListeners = {}): Events {
  const entries = Object.entries(catalogue).map(([key, { name, level }]) => {
    const listen = listeners[key as EventName] as ((fields: object) => void) | undefined;
    return [key, level === "none" ? (listen ?? ignore) : createTeller(logger, { name, level, listen })] as const;
  });
  const events = Object.fromEntries(entries) as unknown as Events;
  logger.onDropped((lines) => events.logDropped({ lines }));
  return events;
}

interface Telling {
  readonly name: string;
  readonly level: Exclude<EventLevel, "none">;
  readonly listen: ((fields: object) => void) | undefined;
}

function createTeller(logger: Logger, { name, level, listen }: Telling): (fields: object) => void {
  return (fields) => {
    listen?.(fields);
    // Most debug lines are never created.
    if (logger.isLevelEnabled(level)) {
      logger[level](redactFields(fields), name);
    }
  };
}

function ignore(): void {}

/** Converts errors to their fields, redacts messages as the contract demands, and rounds times. */
function redactFields(fields: object): object {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === "error") {
      Object.assign(shown, describeError(value));
    } else {
      shown[key] = redactField(key, value);
    }
  }
  return shown;
}

function redactField(key: string, value: unknown): unknown {
  if (isMessage(value)) {
    return redactMessage(value);
  }
  if (Array.isArray(value)) {
    return value.map((each) => redactField(key, each));
  }
  return typeof value === "number" && key.endsWith("Ms") ? Math.round(value) : value;
}

function row<Fields>(name: string, level: EventLevel, about: string): EventRow<Fields> {
  return { name, level, about };
}
