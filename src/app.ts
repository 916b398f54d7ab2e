// The house, wired: plain functions and classes, opened from the bottom up and closed from the top down.

import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import type { Config } from "./config/keys.ts";
import { restBodyBytesMax } from "./config/limits.ts";
import { createLlmLoop } from "./drivers/llm-loop/llm-loop.ts";
import { createRestGateway } from "./gateways/rest/gateway.ts";
import { createDemoModel, demoModelName } from "./models/demo/demo-model.ts";
import type { Model } from "./models/model.ts";
import { createOpenAiCompatible } from "./models/openai-compatible/provider.ts";
import { retryDefaults, withRetry } from "./models/retry.ts";
import { createModelRouter } from "./models/route.ts";
import { Follower } from "./runlog/follower.ts";
import { Hub } from "./runlog/hub.ts";
import { ResultLog } from "./runlog/log.ts";
import { Maintenance } from "./runlog/maintain.ts";
import { PostgresWakeup } from "./runlog/postgres-wakeup.ts";
import { Dispatcher } from "./runs/dispatch.ts";
import { Lease } from "./runs/lease.ts";
import { Reaper } from "./runs/reap.ts";
import { supervise } from "./runs/supervise.ts";
import { listenOnePort } from "./server/one-port.ts";
import { createRequestListener } from "./server/request-listener.ts";
import { createRouter, services } from "./services/router.ts";
import { makeWorkDir } from "./sessions/work-dir.ts";
import { migrate } from "./storage/migrate.ts";
import { openDatabase } from "./storage/open.ts";
import { loadSecret } from "./storage/secret.ts";
import { countSessions } from "./storage/session.ts";
import { createEvents, type Events } from "./telemetry/events.ts";
import type { Logger } from "./telemetry/logger.ts";
import { selectTools } from "./tools/builtin.ts";
import { Cursors } from "./trust/cursor.ts";

export interface App {
  readonly host: string;
  readonly port: number;
  /** Where the embedded Postgres keeps its data; undefined when another database was named. */
  readonly databaseDirectory: string | undefined;
  /** How many readers follow the log of a run here. */
  countReaders(): number;
  /** Hands on the runs, lets open calls end, and stops what was started. Resolves when nothing is left. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Told of steps that take a while. */
  readonly onProgress?: (message: string) => void;
}

export const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

export async function openApp(options: AppOptions): Promise<App> {
  const closers = new AsyncDisposableStack();
  try {
    return await open(options, closers);
  } catch (error) {
    await closers.disposeAsync();
    throw error;
  }
}

async function open(
  { config, logger, clock = systemClock, onProgress }: AppOptions,
  closers: AsyncDisposableStack,
): Promise<App> {
  const events = createEvents(logger);
  const database = await openDatabase({
    url: config.databaseUrl,
    directory: config.databaseDir,
    poolSize: config.databasePoolSize,
    onConnectionError: (error) => events.databaseTroubled({ part: "connection", error }),
    ...(onProgress && { onProgress }),
  });
  closers.defer(() => database.close());
  const { connections } = database;
  const { db, control } = connections;
  const applied = await migrate(db);
  if (applied.length > 0) {
    events.migrationsApplied({ names: applied });
  }

  const drain = new AbortController();
  const hub = new Hub();
  const wakeup = closers.adopt(
    new PostgresWakeup({ connections, clock, onError: troubled(events, "wakeup") }),
    (each) => each.close(),
  );
  const lease: Lease = new Lease({
    db: control,
    clock,
    events,
    leaseMs: config.runsLeaseMs,
    onLost: (replicaId) => dispatcher.loseRuns(replicaId),
  });
  const log = closers.adopt(
    new ResultLog({
      connections,
      clock,
      hub,
      wakeup,
      onLeaseLost: (replicaId) => lease.lose(replicaId, "a write was refused"),
      onError: troubled(events, "log"),
    }),
    (each) => each.close(),
  );
  closers.adopt(new Follower({ db, hub, wakeup, clock, onError: troubled(events, "follower") }), (each) =>
    each.close(),
  );
  const maintenance = closers.adopt(
    new Maintenance({
      db,
      clock,
      events,
      retentionDays: config.retentionDays,
      runTimeoutMs: config.defaultTimeoutSecs * 1_000,
    }),
    (each) => each.close(),
  );
  await maintenance.open();

  const resolveModel = createModelResolver(config, clock, closers);
  const defaultModel = config.defaultModel || (config.openaiKey === "" ? demoModelName : "gpt-4o-mini");
  const drivers = [
    createLlmLoop({
      resolveModel,
      clock,
      defaults: { model: defaultModel, maxTurns: config.defaultMaxTurns, maxTokens: config.defaultMaxTokens },
    }),
  ];
  const findDriver = (name: string) => drivers.find((driver) => driver.name === name);
  const workRoot = config.sessionsWorkRoot || join(resolve(config.databaseDir), "work");
  const prepareWorkDir = (session: { id: string; client: string }) => makeWorkDir(workRoot, session);
  const dispatcher: Dispatcher = new Dispatcher({
    db: control,
    clock,
    events,
    wakeup,
    lease,
    slots: config.runsSlots,
    supervise: (run, stop) => supervise(run, stop, { db, log, wakeup, clock, events, findDriver, prepareWorkDir }),
  });
  await lease.open();
  closers.defer(() => lease.close());
  dispatcher.open();
  closers.defer(() => dispatcher.close());
  const reaper = closers.adopt(
    new Reaper({ db: control, clock, events, log, wakeup, leaseMs: config.runsLeaseMs, findDriver }),
    (each) => each.close(),
  );
  reaper.open();

  const router = createRouter({
    db,
    hub,
    log,
    clock,
    wakeup,
    events,
    config,
    dispatcher,
    cursors: new Cursors(await loadSecret(db, "cursor")),
    concurrentRunsMax: config.sessionsMaxConcurrent,
    timeoutMs: config.defaultTimeoutSecs * 1_000,
    defaultModel,
    resolveModel,
    selectTools,
    drain: drain.signal,
    version,
  });
  const rest = createRestGateway({
    handlers: router.handlers,
    services,
    bodyBytesMax: restBodyBytesMax,
    reportError: (error) => events.requestFailed({ method: "REST", error }),
  });
  const whyNotReady = async (): Promise<string | null> => {
    if (drain.signal.aborted) {
      return "draining";
    }
    return lease.replicaId === undefined ? "no lease" : null;
  };
  const server = await listenOnePort({
    host: config.serverHost,
    port: config.serverPort,
    clock,
    handler: createRequestListener({
      handlers: router.handlers,
      answerRest: (request, response, contextValues) => rest.handle(request, response, { contextValues }),
      probes: { whyNotReady, countSessions: () => countSessions(db) },
      events,
    }),
  });
  closers.defer(() => server.shutdown(config.serverDrainSeconds * 1_000));
  // Streams end with RESUME before the server waits for its calls to end.
  closers.defer(() => drain.abort());
  events.serverListening(server.address);
  return {
    ...server.address,
    databaseDirectory: database.directory,
    countReaders: () => hub.watcherCount,
    close: () => closers.disposeAsync(),
  };
}

/** Models by name, each tried again while nothing was said. */
function createModelResolver(config: Config, clock: Clock, closers: AsyncDisposableStack): (name: string) => Model {
  const providers =
    config.openaiKey === ""
      ? {}
      : {
          openai: closers.adopt(
            createOpenAiCompatible({
              name: "openai",
              baseUrl: config.openaiBaseUrl,
              apiKey: config.openaiKey,
              clock,
            }),
            (provider) => provider.close(),
          ),
        };
  const router = createModelRouter({ providers, demo: createDemoModel({ clock }) });
  const retry = {
    ...retryDefaults,
    baseDelayMs: config.retryBaseMs,
    clock,
    random: () => randomInt(2 ** 32) / 2 ** 32,
  };
  return (name) => withRetry(router.resolve(name), retry);
}

function troubled(events: Events, part: string): (error: unknown) => void {
  return (error) => events.databaseTroubled({ part, error });
}
