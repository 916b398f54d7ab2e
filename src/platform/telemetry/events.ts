// The catalogue of events for the operator. A component reports what happened; a row here decides its level. Each event has its
// own function, so names and fields are stable. A protocol has its events in its `events.ts`.

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
  /** Why the provider gave no response, such as `rate_limit`; undefined when it gave one. */
  readonly cause?: string | undefined;
  readonly durationMs: number;
  /** The time until the first part of the answer. */
  readonly firstPartMs?: number | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

interface SkippedFields {
  readonly provider: string;
  readonly model: string;
  readonly events: number;
  readonly items: number;
  readonly parts: number;
  readonly type: string;
}

interface CircuitFields {
  readonly provider: string;
  readonly model: string;
  /** Undefined when the circuit is the one of all clients. */
  readonly client: string | undefined;
}

interface CallFields {
  readonly service: string;
  readonly method: string;
}

type OnRun<Fields> = { readonly runId: string } & Fields;
type OnCallback<Fields> = { readonly callbackId: string; readonly attempts: number } & Fields;
type Trouble = { readonly part: string; readonly error: unknown };

/** The events of the core. */
export const coreEvents = {
  serverListening: row<{
    host: string;
    port: number;
    h2Port: number | undefined;
    metricsPort: number | undefined;
  }>("server.listening", "info", "The service answers at these ports."),
  directoriesListed: row<{ paths: readonly string[] }>(
    "directories.listed",
    "info",
    "Sessions may name these directories and those in them; without one, each session has its own.",
  ),
  primaryStarted: row<{ processes: number; metricsPort: number | undefined }>(
    "primary.started",
    "info",
    "This process starts worker processes, passes signals on to them, and serves the sum of their metrics.",
  ),
  workerStarted: row<{ pid: number }>("worker.started", "info", "The primary started a worker process."),
  workerEnded: row<{ pid: number; code: number | null; signal: string | null; restartInMs: number }>(
    "worker.ended",
    "warn",
    "A worker process ended without being asked to; the primary starts another one.",
  ),
  callbackRefused: row<{ why: string }>(
    "callback.refused",
    "warn",
    "The service may not call the callback URL of the settings.",
  ),
  logDropped: row<{ lines: number }>(
    "log.dropped",
    "warn",
    "Lines of this log were dropped, because its reader was too slow or had no space; the service never waits for it.",
  ),
  databaseTroubled: row<Trouble>("database.troubled", "warn", "A part could not use the database and will try again."),
  standbysAsynchronous: row<{ standbys: number }>(
    "standbys.asynchronous",
    "warn",
    "Commits do not wait for the standbys of the database: one that is promoted may lack acknowledged results.",
  ),
  leaseShort: row<{ leaseMs: number; neededMs: number }>(
    "lease.short",
    "warn",
    "A failover of the database takes longer than three leases: each run then restarts its turn.",
  ),
  postgresAdopted: row<{ directory: string }>(
    "postgres.adopted",
    "warn",
    "The embedded Postgres was still running after its service had died; this service uses it and will stop it.",
  ),
  clockCorrected: row<{ aheadMs: number }>(
    "clock.corrected",
    "warn",
    "This machine's clock is wrong; the service uses the clock of the database.",
  ),
  migrationsApplied: row<{ names: readonly string[] }>(
    "migrations.applied",
    "info",
    "The service migrated the schema.",
  ),
  leaseAcquired: row<{ replicaId: string }>("lease.acquired", "info", "This replica may own runs, under a new id."),
  leaseLost: row<{ replicaId: string; why: string }>(
    "lease.lost",
    "warn",
    "This replica lost its lease; other replicas continue its runs, and it takes a new id.",
  ),
  replicaReaped: row<{ replicaId: string }>(
    "replica.reaped",
    "warn",
    "Another replica lost its lease; its runs can be taken over.",
  ),
  /** `queueWaitMs` is known only for the first start of a run. */
  runStarted: row<OnRun<{ epoch: number; queueWaitMs?: number | undefined }>>(
    "run.started",
    "info",
    "A replica started to work on a run: a new one, or one that had waited or had another owner.",
  ),
  runFinished: row<OnRun<{ status: string; code: string; durationMs: number; turns: number }>>(
    "run.finished",
    "info",
    "A run ended; the code is the reason of its failure or completion.",
  ),
  runTakenOver: row<OnRun<{ takeovers: number }>>(
    "run.taken_over",
    "warn",
    "A run of a lost replica went back to the queue.",
  ),
  runLost: row<OnRun<{ code: string }>>("run.lost", "warn", "A run of a lost replica could not continue and failed."),
  runUnreadable: row<OnRun<{ error: unknown }>>(
    "run.unreadable",
    "error",
    "The rows of a run without an owner cannot be read; the run failed, and others are not affected.",
  ),
  resultsLost: row<OnRun<{ acknowledged: number; found: number }>>(
    "run.results_lost",
    "error",
    "The database has lost acknowledged results of a run, as an asynchronous standby does that is promoted. They are marked in the log.",
  ),
  runDisowned: row<OnRun<unknown>>(
    "run.disowned",
    "warn",
    "A run that this replica owned without working on it went back to the queue.",
  ),
  runAbandoned: row<OnRun<{ error: unknown }>>(
    "run.abandoned",
    "error",
    "The end of a run could not be written; its lease or its deadline ends it.",
  ),
  driverFailed: row<OnRun<{ driver: string; error: unknown }>>(
    "driver.failed",
    "error",
    "A driver threw an error, which is a defect; its run failed.",
  ),
  loopDetected: row<OnRun<{ tool: string }>>(
    "loop.detected",
    "warn",
    "A model repeated the same tool call; the agent asked it to do something else.",
  ),
  logDamaged: row<OnRun<unknown>>("log.damaged", "error", "The stored log of a run was changed after it was written."),
  budgetReached: row<OnRun<{ budget: string }>>("budget.reached", "warn", "A budget stopped a run."),
  modelResponded: row<ModelFields>("model.responded", "debug", "A model's answer is over, or failed with this code."),
  modelFramesSkipped: row<SkippedFields>(
    "model.frames_skipped",
    "debug",
    "A model's answer had events, items or parts of unknown types, which were skipped; `type` names the first one.",
  ),
  circuitOpened: row<CircuitFields & { failures: number; retryInMs: number }>(
    "circuit.opened",
    "warn",
    "A model failed repeatedly; its circuit breaker opened, for the client named here or else for all clients.",
  ),
  circuitHalfOpened: row<CircuitFields>(
    "circuit.half_opened",
    "info",
    "One request of a client tests whether a model works again.",
  ),
  circuitClosed: row<CircuitFields>("circuit.closed", "info", "A model answers again."),
  toolFinished: row<{ tool: string; outcome: string; durationMs: number }>(
    "tool.finished",
    "debug",
    "A tool call finished.",
  ),
  toolsMended: row<{ client: string; session: string; problems: readonly string[] }>(
    "tools.mended",
    "warn",
    "Schemas of a session's remote tools are partly invalid: a keyword or a tool was left out, or arguments are not checked.",
  ),
  toolsOmitted: row<{ client: string; session: string; provider: string; tools: readonly string[] }>(
    "tools.omitted",
    "debug",
    "A run's model does without tools that its provider does not run.",
  ),
  commandKilled: row<{ limit: string }>(
    "command.killed",
    "none",
    "A command of the tool bash exceeded a limit and was killed; the tool's result says so.",
  ),
  jailMissing: row<{ problem: string; fix: string }>(
    "jail.missing",
    "warn",
    "This machine has no jail for commands: agents with the tool bash are refused.",
  ),
  jailOff: row<object>(
    "jail.off",
    "warn",
    "The settings turn the jail off: commands of agents can do and read everything that the service can.",
  ),
  egressDenied: row<{ kind: string }>(
    "egress.denied",
    "none",
    "The service refused to call an address; the caller or the model gets the reason.",
  ),
  sessionsExpired: row<{ sessions: number }>("sessions.expired", "info", "Sessions reached the end of their time."),
  sessionsErased: row<{ sessions: number; runs: number }>(
    "sessions.erased",
    "info",
    "The service removed deleted and expired sessions with their runs.",
  ),
  sessionPurged: row<{ runs: number; results: number }>(
    "session.purged",
    "info",
    "A client erased the texts of a session's results.",
  ),
  callbackDelivered: row<OnCallback<{ durationMs: number }>>(
    "callback.delivered",
    "debug",
    "A host accepted a status callback.",
  ),
  callbackFailed: row<OnCallback<{ error: unknown; retryInMs: number }>>(
    "callback.failed",
    "info",
    "A status callback failed; the service sends it again later, and the session's next ones wait for it.",
  ),
  callbackDead: row<OnCallback<{ error: unknown }>>(
    "callback.dead",
    "warn",
    "A status callback failed for too long and was dropped; the session's next ones follow.",
  ),
  partitionsDropped: row<{ names: readonly string[] }>(
    "partitions.dropped",
    "info",
    "The service removed logs past their retention.",
  ),
  tracesTroubled: row<{ error: unknown }>(
    "traces.troubled",
    "warn",
    "The collector does not accept spans; runs are not affected.",
  ),
  maintenanceFailed: row<Trouble>("maintenance.failed", "warn", "A maintenance task failed; it will be retried."),
  partitionMissed: row<{ rows: number }>(
    "partition.missed",
    "error",
    "Results are outside all daily partitions, where retention does not find them.",
  ),
  requestStarted: row<object>("request.started", "none", "A request was received."),
  requestFinished: row<RequestFields>("request.finished", "info", "A request was completed."),
  requestFailed: row<{ method: string; error: unknown }>(
    "request.failed",
    "error",
    "A request failed with an unexpected error; its caller gets INTERNAL without details.",
  ),
  callStarted: row<CallFields>("call.started", "none", "A call of the contract started, on any surface."),
  callFinished: row<CallFields & { code: string; durationMs: number }>(
    "call.finished",
    "none",
    "A call finished with this gRPC code.",
  ),
  callRefused: row<CallFields & { code: string }>("call.refused", "none", "A call was refused before it began."),
  readerJoined: row<{ transport: string }>("reader.joined", "none", "A reader follows a run or a session."),
  readerLeft: row<{ transport: string }>("reader.left", "none", "A reader left."),
  readerDropped: row<{ reason: string }>("reader.dropped", "none", "The service closed a stream before its end."),
  signatureTimed: row<{ skewSeconds: number }>(
    "signature.timed",
    "none",
    "Difference between the timestamp of a signed request and the service's clock.",
  ),
  batchWritten: row<{ results: number; durationMs: number }>(
    "batch.written",
    "none",
    "A batchWriter of the log committed a batch of results.",
  ),
  resultsShown: row<{ lagMs: number }>(
    "results.shown",
    "none",
    "Delay from the commit of results to a waiting reader.",
  ),
  statementFinished: row<{ durationMs: number }>("statement.finished", "none", "The database answered a statement."),
} as const;

type CoreEvents = typeof coreEvents;

/** All events. Each protocol merges its own into it. */
export interface EventRows extends CoreEvents {}

/** Events by their names in code. */
export type EventTable = Readonly<Record<string, EventRow<unknown>>>;
/** The name of an event in code. */
export type EventName = keyof EventRows;
/** The fields of an event. */
export type EventFields<Name extends EventName> = NonNullable<EventRows[Name]["fields"]>;
/** One function per event. The functions never throw and never wait. */
export type Events = { readonly [Name in EventName]: (fields: EventFields<Name>) => void };
/** Other consumers of events, such as counters. */
export type EventListeners = { readonly [Name in EventName]?: ((fields: EventFields<Name>) => void) | undefined };

/**
 * Returns the functions of all events: those of the core and those of `protocolEvents`. Fields are redacted before they reach the
 * log: see `redactFields`.
 */
export function createEvents(logger: Logger, listeners: EventListeners = {}, protocolEvents: EventTable = {}): Events {
  const entries = Object.entries({ ...coreEvents, ...protocolEvents }).map(([key, { name, level }]) => {
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

/** Creates a row of the catalogue: `row<{ lines: number }>("log.dropped", "warn", "Lines were dropped.")`. */
export function row<Fields>(name: string, level: EventLevel, about: string): EventRow<Fields> {
  return { name, level, about };
}
