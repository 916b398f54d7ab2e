// What is worth a log line, one function per event, so that names and fields are stable and nothing secret slips in.

import type { Logger } from "./logger.ts";

export interface Events {
  serverListening(fields: {
    host: string;
    port: number;
    h2Port: number | undefined;
    metricsPort: number | undefined;
  }): void;
  databaseTroubled(fields: { part: string; error: unknown }): void;
  migrationsApplied(fields: { names: readonly string[] }): void;
  leaseAcquired(fields: { replicaId: string }): void;
  leaseLost(fields: { replicaId: string; why: string }): void;
  replicaReaped(fields: { replicaId: string }): void;
  runTakenOver(fields: { runId: string; takeovers: number }): void;
  runLost(fields: { runId: string; code: string }): void;
  runDisowned(fields: { runId: string }): void;
  runAbandoned(fields: { runId: string; error: unknown }): void;
  driverFailed(fields: { runId: string; driver: string; error: unknown }): void;
  maintenanceFailed(fields: { part: string; error: unknown }): void;
  partitionMissed(fields: { rows: number }): void;
  requestFinished(fields: RequestFields): void;
  requestFailed(fields: { method: string; error: unknown }): void;
}

export interface RequestFields {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** HTTP status; 0 when the caller left before there was one. gRPC tells its own in the trailers. */
  readonly status: number;
  readonly address: string;
  readonly durationMs: number;
  readonly client?: string;
  /** Why the caller was refused. */
  readonly reason?: string;
}

export function createEvents(logger: Logger): Events {
  return {
    serverListening: (fields) => logger.info(fields, "server.listening"),
    databaseTroubled: ({ part, error }) => logger.warn({ part, ...describe(error) }, "database.troubled"),
    migrationsApplied: (fields) => logger.info(fields, "migrations.applied"),
    leaseAcquired: (fields) => logger.info(fields, "lease.acquired"),
    leaseLost: (fields) => logger.warn(fields, "lease.lost"),
    replicaReaped: (fields) => logger.warn(fields, "replica.reaped"),
    runTakenOver: (fields) => logger.warn(fields, "run.taken_over"),
    runLost: (fields) => logger.warn(fields, "run.lost"),
    runDisowned: (fields) => logger.warn(fields, "run.disowned"),
    runAbandoned: ({ runId, error }) => logger.error({ runId, ...describe(error) }, "run.abandoned"),
    driverFailed: ({ runId, driver, error }) => logger.error({ runId, driver, ...describe(error) }, "driver.failed"),
    maintenanceFailed: ({ part, error }) => logger.warn({ part, ...describe(error) }, "maintenance.failed"),
    partitionMissed: (fields) => logger.error(fields, "partition.missed"),
    requestFinished: (fields) => logger.info(fields, "request.finished"),
    requestFailed: ({ method, error }) => logger.error({ method, ...describe(error) }, "request.failed"),
  };
}

/** An error as fields: message, chain of causes and stack, which stay in the log. */
function describe(error: unknown): { error: string; causes?: string[]; stack?: string } {
  if (!(error instanceof Error)) {
    return { error: String(error) };
  }
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(cause.message);
  }
  return {
    error: error.message,
    ...(causes.length > 0 && { causes }),
    ...(error.stack !== undefined && { stack: error.stack }),
  };
}
