// The house, wired: plain functions and classes, opened from the bottom up and closed from the top down.

import { randomInt } from "node:crypto";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";
import { version } from "./base/version.ts";
import { type Config, isAuthConfigured, isOpenAiConfigured } from "./config/keys.ts";
import { createLlmLoop } from "./drivers/llm-loop/llm-loop.ts";
import { mountFeeds } from "./gateways/feed/feed-handler.ts";
import { printOpenApiDocument } from "./gateways/openapi/document.ts";
import { createRestGateway } from "./gateways/rest/gateway.ts";
import { createDemoModel, demoModelName } from "./models/demo/demo-model.ts";
import type { Model } from "./models/model.ts";
import { createOpenAiCompatible } from "./models/openai-compatible/provider.ts";
import { retryDefaults, withRetry } from "./models/retry.ts";
import { createModelRouter, type ModelProvider, type ProviderName } from "./models/route.ts";
import { Follower } from "./runlog/follower.ts";
import { Hub } from "./runlog/hub.ts";
import { ResultLog } from "./runlog/log.ts";
import { Maintenance } from "./runlog/maintain.ts";
import { PostgresWakeup } from "./runlog/postgres-wakeup.ts";
import type { Wakeup } from "./runlog/wakeup.ts";
import { Dispatcher } from "./runs/dispatch.ts";
import { Lease } from "./runs/lease.ts";
import { Reaper } from "./runs/reap.ts";
import { supervise } from "./runs/supervise.ts";
import { listenForMetrics } from "./server/metrics-port.ts";
import { listenOnePort, type OnePortHandler, type OnePortLimits, type OnePortServer } from "./server/one-port.ts";
import { UnverifiedBodies } from "./server/request-body.ts";
import { createRequestListener } from "./server/request-listener.ts";
import { readTlsFiles } from "./server/tls-files.ts";
import { createFeeds } from "./services/feeds.ts";
import { createRouter, routerLimits, services } from "./services/router.ts";
import { makeWorkDir } from "./sessions/work-dir.ts";
import type { Connections } from "./storage/database.ts";
import { migrate } from "./storage/migrate.ts";
import { type OpenDatabase, openDatabase } from "./storage/open.ts";
import { loadSecret } from "./storage/secret.ts";
import { countSessions } from "./storage/session.ts";
import { createEvents, type Events } from "./telemetry/events.ts";
import type { Logger } from "./telemetry/logger.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { selectTools } from "./tools/builtin.ts";
import { Authenticator } from "./trust/authenticate.ts";
import { Cursors } from "./trust/cursor.ts";
import { KeyRing } from "./trust/key-ring.ts";
import { RateLimit } from "./trust/rate-limit.ts";

export interface App {
  readonly host: string;
  readonly port: number;
  /** The port of HTTP/2, where it has its own. */
  readonly h2Port: number | undefined;
  /** Where Prometheus reads, if anywhere. */
  readonly metricsPort: number | undefined;
  /** False while anybody may call without credentials. */
  readonly asksForCredentials: boolean;
  /** Where the embedded Postgres keeps its data; undefined when another database was named. */
  readonly databaseDirectory: string | undefined;
  /** How many readers follow the log of a run here. */
  countReaders(): number;
  /**
   * Hands on the runs, lets open calls end, and stops what was started. Resolves when nothing is left. For `noticeMs`
   * before, everything goes on but readiness, so that load balancers send new calls elsewhere.
   */
  close(options?: { readonly noticeMs: number }): Promise<void>;
}

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Told of steps that take a while. */
  readonly onProgress?: (message: string) => void;
  /** Serves every stream by its handler, none as a feed: what readers get is the same, and tests compare the two. */
  readonly plainStreams?: boolean;
}

export async function openApp(options: AppOptions): Promise<App> {
  const closers = new AsyncDisposableStack();
  try {
    return await open(options, closers);
  } catch (error) {
    await closers.disposeAsync();
    throw error;
  }
}

/** What every part of the house stands on. */
interface Ground {
  readonly config: Config;
  readonly clock: Clock;
  readonly events: Events;
  readonly connections: Connections;
  /** Closes what was opened, the latest first. */
  readonly closers: AsyncDisposableStack;
  readonly plainStreams: boolean;
}

async function open(options: AppOptions, closers: AsyncDisposableStack): Promise<App> {
  const { config, clock = systemClock } = options;
  const events = createEvents(options.logger);
  const database = await openStore(options, events, closers);
  const { connections } = database;
  const ground: Ground = { config, clock, events, connections, closers, plainStreams: options.plainStreams ?? false };
  const lease: Lease = new Lease({
    db: connections.control,
    clock,
    events,
    leaseMs: config.runsLeaseMs,
    onLost: (replicaId) => runs.loseRuns(replicaId),
  });
  const runlog = await openLog(ground, lease);
  const models = openModels(ground);
  const runs: Dispatcher = await openRuns(ground, lease, runlog, models);
  const { leave, ...address } = await openServer(ground, lease, runlog, models, runs);
  events.serverListening(address);
  return {
    ...address,
    asksForCredentials: isAuthConfigured(config),
    databaseDirectory: database.directory,
    countReaders: () => runlog.hub.watcherCount,
    close: async ({ noticeMs } = { noticeMs: 0 }) => {
      leave();
      await clock.sleep(noticeMs);
      await closers.disposeAsync();
    },
  };
}

async function openStore(options: AppOptions, events: Events, closers: AsyncDisposableStack): Promise<OpenDatabase> {
  const { config, onProgress } = options;
  const database = await openDatabase({
    url: config.databaseUrl,
    directory: config.databaseDir,
    poolSize: config.databasePoolSize,
    onConnectionError: (error) => events.databaseTroubled({ part: "connection", error }),
    ...(onProgress && { onProgress }),
  });
  closers.defer(() => database.close());
  const applied = await migrate(database.connections.db);
  if (applied.length > 0) {
    events.migrationsApplied({ names: applied });
  }
  return database;
}

interface Runlog {
  readonly hub: Hub;
  readonly wakeup: Wakeup;
  readonly log: ResultLog;
}

async function openLog({ config, clock, events, connections, closers }: Ground, lease: Lease): Promise<Runlog> {
  const { db } = connections;
  const hub = new Hub();
  const troubled = (part: string) => (error: unknown) => events.databaseTroubled({ part, error });
  const wakeup = new PostgresWakeup({ connections, clock, onError: troubled("wakeup") });
  closers.defer(() => wakeup.close());
  const log = new ResultLog({
    connections,
    clock,
    hub,
    wakeup,
    onLeaseLost: (replicaId) => lease.lose(replicaId, "a write was refused"),
    onError: troubled("log"),
  });
  closers.defer(() => log.close());
  const follower = new Follower({ db, hub, wakeup, clock, onError: troubled("follower") });
  closers.defer(() => follower.close());
  const runTimeoutMs = runTimeoutOf(config);
  const maintenance = new Maintenance({ db, clock, events, retentionDays: config.retentionDays, runTimeoutMs });
  closers.defer(() => maintenance.close());
  await maintenance.open();
  return { hub, wakeup, log };
}

interface Models {
  readonly defaultModel: string;
  readonly resolve: (name: string) => Model;
}

/** Models by name, each tried again while nothing was said. */
function openModels({ config, clock, closers }: Ground): Models {
  const providers: Partial<Record<ProviderName, ModelProvider>> = {};
  const hasOpenAi = isOpenAiConfigured(config);
  if (hasOpenAi) {
    const { openaiBaseUrl: baseUrl, openaiKey: apiKey } = config;
    const openai = createOpenAiCompatible({ name: "openai", baseUrl, apiKey, clock });
    closers.defer(() => openai.close());
    providers.openai = openai;
  }
  const router = createModelRouter({ providers, demo: createDemoModel({ clock }) });
  const random = (): number => randomInt(2 ** 32) / 2 ** 32;
  const retry = { ...retryDefaults, baseDelayMs: config.retryBaseMs, clock, random };
  return {
    defaultModel: config.defaultModel || (hasOpenAi ? defaultOpenAiModel : demoModelName),
    resolve: (name) => withRetry(router.resolve(name), retry),
  };
}

async function openRuns(ground: Ground, lease: Lease, { log, wakeup }: Runlog, models: Models): Promise<Dispatcher> {
  const { config, clock, events, connections, closers } = ground;
  const { db, control } = connections;
  const defaults = {
    model: models.defaultModel,
    maxTurns: config.defaultMaxTurns,
    maxTokens: config.defaultMaxTokens,
  };
  const drivers = [createLlmLoop({ resolveModel: models.resolve, clock, defaults })];
  const findDriver = (name: string) => drivers.find((driver) => driver.name === name);
  const workRoot = config.sessionsWorkRoot || join(resolve(config.databaseDir), "work");
  const prepareWorkDir = (session: { id: string; client: string }) => makeWorkDir(workRoot, session);
  const superviseDeps = { db, log, wakeup, clock, events, findDriver, prepareWorkDir };
  const dispatcher = new Dispatcher({
    db: control,
    clock,
    events,
    wakeup,
    lease,
    slots: config.runsSlots,
    supervise: (run, stop) => supervise(run, stop, superviseDeps),
  });
  await lease.open();
  closers.defer(() => lease.close());
  dispatcher.open();
  closers.defer(() => dispatcher.close());
  const reaper = new Reaper({ db: control, clock, events, log, wakeup, leaseMs: config.runsLeaseMs, findDriver });
  closers.defer(() => reaper.close());
  reaper.open();
  return dispatcher;
}

async function openServer(
  ground: Ground,
  lease: Lease,
  runlog: Runlog,
  models: Models,
  dispatcher: Dispatcher,
): Promise<Doors> {
  const { config, clock, events, connections, closers } = ground;
  const { db } = connections;
  // Leaving is told to whoever asks; a while later the drain ends what is open.
  const leaving = new AbortController();
  const drain = new AbortController();
  const whyNotReady = (): string | null => (leaving.signal.aborted ? "draining" : lease.whyNotHeld());
  const deps = {
    ...runlog,
    db,
    clock,
    events,
    config,
    dispatcher,
    cursors: new Cursors(await loadSecret(db, "cursor")),
    concurrentRunsMax: config.sessionsMaxConcurrent,
    timeoutMs: runTimeoutOf(config),
    defaultModel: models.defaultModel,
    resolveModel: models.resolve,
    selectTools,
    whyNotReady,
    drain: drain.signal,
    version,
  };
  const feeds = ground.plainStreams ? [] : createFeeds(deps);
  const handlers = mountFeeds(createRouter(deps).handlers, feeds, routerLimits);
  const reportError = (error: unknown): void => events.requestFailed({ method: "REST", error });
  const rest = createRestGateway({ handlers, services, feeds, bodyBytesMax: config.serverMaxBodyBytes, reportError });
  const keyRing = new KeyRing(config);
  const metrics = createMetrics({ version, countReaders: () => runlog.hub.watcherCount });
  const metricsPort = await openMetricsPort(config, metrics, closers);
  const rateOf = (requestsPerSecond: number): RateLimit =>
    new RateLimit({ clock, requestsPerSecond, burst: config.rateLimitBurst });
  const handler = createRequestListener({
    handlers,
    rest,
    probes: { whyNotReady, countSessions: () => countSessions(db) },
    documents: new Map([
      ["/openapi.json", { contentType: "application/json", text: printOpenApiDocument({ services, version }) }],
    ]),
    admission: {
      authenticator: new Authenticator({ db, clock, keyRing, acceptV1: config.authHmacV1 }),
      bodies: new UnverifiedBodies(),
      callerRate: rateOf(config.rateLimitRps),
      failureRate: rateOf(config.rateLimitFailuresRps),
    },
    corsOrigins: config.serverCorsOrigins,
    isOpen: keyRing.isOpen,
    bodyBytesMax: config.serverMaxBodyBytes,
    writeTimeoutMs: config.serverWriteTimeoutSec * 1_000,
    clock,
    events,
    metrics,
  });
  const ports = await openPorts(config, { clock, handler, closers });
  // Streams end with RESUME before the ports wait for their calls to end.
  closers.defer(() => drain.abort());
  return { ...ports, metricsPort, leave: () => leaving.abort() };
}

async function openMetricsPort(
  { metricsPort }: Config,
  metrics: Metrics,
  closers: AsyncDisposableStack,
): Promise<number | undefined> {
  if (metricsPort === undefined) {
    return undefined;
  }
  const server = await listenForMetrics(metricsPort, metrics);
  closers.defer(() => server.close());
  return server.port;
}

interface Doors {
  readonly host: string;
  readonly port: number;
  /** The port of HTTP/2, where it has its own. */
  readonly h2Port: number | undefined;
  /** Where Prometheus reads. */
  readonly metricsPort: number | undefined;
  /** Tells whoever asks that this replica is about to go. */
  leave(): void;
}

/** One port for both protocols, or one for each. */
async function openPorts(
  config: Config,
  { clock, handler, closers }: { clock: Clock; handler: OnePortHandler; closers: AsyncDisposableStack },
): Promise<Pick<Doors, "host" | "port" | "h2Port">> {
  const tls = readTlsFiles(config);
  const limits = portLimits(config);
  const servers: OnePortServer[] = [];
  closers.defer(async () => {
    await Promise.all(servers.map((server) => server.shutdown(config.serverDrainSeconds * 1_000)));
  });
  const open = async (port: number, protocols: "both" | "h1" | "h2"): Promise<OnePortServer["address"]> => {
    const { serverHost: host } = config;
    const server = await listenOnePort({ host, port, clock, handler, limits, protocols, ...(tls && { tls }) });
    servers.push(server);
    return server.address;
  };
  const { serverPort, serverH2Port } = config;
  const first = await open(serverPort, serverH2Port === undefined ? "both" : "h1");
  const second = serverH2Port === undefined ? undefined : await open(serverH2Port, "h2");
  return { ...first, h2Port: second?.port };
}

function portLimits(config: Config): Partial<OnePortLimits> {
  const receiveMs = config.serverReadTimeoutSec * 1_000;
  const idleMs = config.serverIdleTimeoutSec * 1_000;
  return {
    connectionsMax: config.serverConnectionsMax,
    connectionsPerAddressMax: config.serverConnectionsPerAddressMax,
    h1HeadersTimeoutMs: config.serverReadHeaderTimeoutSec * 1_000,
    h1RequestTimeoutMs: receiveMs,
    h2RequestTimeoutMs: receiveMs,
    h1KeepAliveTimeoutMs: idleMs,
    h2IdleTimeoutMs: idleMs,
    h2StreamsMax: config.serverStreamsPerConnectionMax,
  };
}

/** What OpenAI's own service answers with when nobody chose a model. */
const defaultOpenAiModel = "gpt-4o-mini";

function runTimeoutOf(config: Config): number {
  return config.defaultTimeoutSecs * 1_000;
}
