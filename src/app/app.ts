// Opens all components in dependency order, and closes them in reverse.

import { builtinToolNames } from "../agent/tools/builtin.ts";
import type { Core } from "../api/core.ts";
import type { OpenProtocol } from "../api/protocol.ts";
import { createResolveSubagent } from "../api/subagents.ts";
import { DatabaseProbe } from "../engine/runs/database-probe.ts";
import { Lease } from "../engine/runs/lease.ts";
import { oldestUnleasedMs } from "../engine/storage/run.ts";
import { KeyRing } from "../platform/auth/key-ring.ts";
import { RunTokens } from "../platform/auth/run-token.ts";
import { createSignRequest } from "../platform/auth/sign-request.ts";
import { loadSecret } from "../platform/auth/storage/secret.ts";
import { type Clock, systemClock } from "../platform/base/clock.ts";
import { assertFailpoint } from "../platform/base/failpoint.ts";
import { type ClockReading, SyncedClock } from "../platform/base/synced-clock.ts";
import { version } from "../platform/base/version.ts";
import { explainConfig } from "../platform/config/explain.ts";
import { type Config, isAuthConfigured } from "../platform/config/keys.ts";
import type { ConfigSources } from "../platform/config/load.ts";
import { invalidConfig } from "../platform/config/problem.ts";
import { secretFilesOf } from "../platform/config/secret-files.ts";
import { secretsOf } from "../platform/config/secrets.ts";
import type { AppContext } from "../platform/context.ts";
import { GrowthWatch } from "../platform/database/growth.ts";
import { migrate } from "../platform/database/migrate.ts";
import { type OpenDatabase, openDatabase } from "../platform/database/open.ts";
import { mayLoseCommits, readReplication, shortestLeaseMs } from "../platform/database/replication.ts";
import { readTimeMs } from "../platform/database/time.ts";
import { createEgress } from "../platform/egress/post.ts";
import { readBuildCommit } from "../platform/telemetry/build-commit.ts";
import { createEvents, type Events } from "../platform/telemetry/events.ts";
import type { Logger } from "../platform/telemetry/logger.ts";
import { createMetrics } from "../platform/telemetry/metrics.ts";
import { openTraces } from "../platform/telemetry/traces/open.ts";
import { createLoop, openAgent } from "./open-agent.ts";
import { openCallbacks } from "./open-callbacks.ts";
import { openLog } from "./open-log.ts";
import type { Address } from "./open-ports.ts";
import { openRuns, type Runs } from "./open-runs.ts";
import { openServer } from "./open-server.ts";
import { listedWorkDirs, openWorkDirs } from "./open-work-dirs.ts";
import { failpoints, protocolEvents, protocols } from "./protocols.ts";
import { settings } from "./settings.ts";

/** A running service. */
export interface App extends Address {
  /** The port of the metrics endpoint; undefined when it is off. */
  readonly metricsPort: number | undefined;
  /** False when clients may call without credentials. */
  readonly asksForCredentials: boolean;
  /** The model of agents that name no model. */
  readonly defaultModel: string;
  /** How commands of agents run, as text for people. */
  readonly bash: string;
  /** The directory of sessions that name none; undefined when each has one of its own. */
  readonly usualWorkDir: string | undefined;
  /** The data directory of the embedded Postgres; undefined when the settings name another database. */
  readonly databaseDirectory: string | undefined;
  /** Returns how many readers follow logs of runs on this replica. */
  countReaders(): number;
  /**
   * Hands on the runs, lets open calls end, and closes all components. Resolves when nothing is left. During the first
   * `noticeMs` only readiness changes, so that load balancers send new calls elsewhere.
   */
  close(options?: { readonly noticeMs: number }): Promise<void>;
}

/** Options of `openApp`. */
export interface AppOptions {
  readonly config: Config;
  /** The sources of `config`: ListSettings shows the origins, and no tool shows the files with secrets. */
  readonly sources: ConfigSources;
  readonly logger: Logger;
  /** The directory of sessions that name none, if sessions may name it. Unset gives each session one of its own. */
  readonly workDir?: string | undefined;
  /** Replaces the machine's clock, which is otherwise corrected by the database's clock. */
  readonly clock?: Clock;
  /** Receives a message for each step that takes a while. */
  readonly onProgress?: (message: string) => void;
  /** Aborts the wait for the embedded Postgres to start. */
  readonly signal?: AbortSignal;
  /** True in one of several worker processes. Their primary serves the metrics of all. */
  readonly isWorker?: boolean;
  /** Serves every stream by its handler and none as a feed. Readers get the same; tests compare the two. */
  readonly plainStreams?: boolean;
}

/** Opens the service. When a step fails, closes the components that are open already. */
export async function openApp(options: AppOptions): Promise<App> {
  assertFailpoint(failpoints);
  const closers = new AsyncDisposableStack();
  try {
    return await open(options, closers);
  } catch (error) {
    await closers.disposeAsync();
    throw error;
  }
}

async function open(options: AppOptions, closers: AsyncDisposableStack): Promise<App> {
  const { isWorker = false } = options;
  const config = isWorker ? { ...options.config, metricsPort: undefined } : options.config;
  const problems = settings.findProblems(config, () => true);
  if (problems.length > 0) {
    throw invalidConfig(problems);
  }
  const synced = new SyncedClock(systemClock);
  const clock = options.clock ?? synced;
  const metrics = createMetrics({
    version,
    commit: readBuildCommit(),
    toolNames: builtinToolNames,
    clock,
    isWorker,
    isServed: options.config.metricsPort !== undefined,
  });
  const settingSecrets = secretsOf(settings.keys, config);
  options.logger.hide(settingSecrets);
  const events = createEvents(options.logger, metrics.listeners, protocolEvents);
  const neededMs = shortestLeaseMs(config.databaseFailoverSeconds);
  if (config.runsLeaseMs < neededMs) {
    events.leaseShort({ leaseMs: config.runsLeaseMs, neededMs });
  }
  const database = await openStore(options, events, closers);
  const { connections } = database;
  const sync = (reading: ClockReading): void => {
    const aheadMs = synced.sync(reading);
    if (aheadMs !== undefined) {
      events.clockCorrected({ aheadMs });
    }
  };
  // Before any id is made or any age is computed.
  sync({ askedAtMs: synced.monotonicMs(), shownMs: await readTimeMs(connections.db) });
  metrics.attach({
    readPools: () => connections.readPools(),
    oldestUnleasedMs: () => oldestUnleasedMs(connections.db),
  });
  const traces = await openTraces({
    endpoint: config.tracingEndpoint,
    recordsContent: config.tracingContent,
    version,
    clock,
    onTrouble: (error) => events.tracesTroubled({ error }),
  });
  closers.defer(() => traces.close());
  const keyRing = new KeyRing(config);
  const egress = createEgress({
    clock,
    allowsPrivate: config.securityAllowPrivateNetworks,
    exceptions: config.securityCallbackAllow,
    onDenied: (kind) => events.egressDenied({ kind }),
  });
  closers.defer(() => egress.close());
  const why = config.callbackBaseUrl === "" ? undefined : egress.findProblem(config.callbackBaseUrl);
  if (why !== undefined) {
    events.callbackRefused({ why });
  }
  const { plainStreams = false, sources } = options;
  const signRequest = createSignRequest({ keyRing, clock });
  const context = {
    config,
    // Without what only this process has, such as a worker without its own port for metrics.
    explainedSettings: explainConfig(sources, options.config),
    settingSecrets,
    clock,
    events,
    metrics,
    connections,
    traces,
    keyRing,
    egress,
    signRequest,
    closers,
  };
  const workDirs = openWorkDirs(config, secretFilesOf(sources), connections.db);
  if (options.workDir !== undefined) {
    await workDirs.offer(options.workDir);
  }
  const probe = new DatabaseProbe({
    connections,
    clock,
    events,
    isProofDue: () => lease.isRenewing,
  });
  const lease: Lease = new Lease({
    db: connections.control,
    clock,
    events,
    leaseMs: config.runsLeaseMs,
    about: { version, slots: config.runsSlots },
    onLost: (replicaId) => runs.dispatcher.loseRuns(replicaId),
    onTime: (reading) => {
      sync(reading);
      probe.hearProof();
    },
  });
  const runlog = await openLog(context, lease, workDirs);
  const agent = await openAgent(context, workDirs);
  const ownAddress = Promise.withResolvers<Address>();
  const runTokens = new RunTokens(await loadSecret(connections.db, "run token"));
  const core: Core = { ...runlog, ...agent, runTokens, workDirs, ownAddress: ownAddress.promise };
  const opened = await openProtocols(context, core);
  const runners = opened.flatMap((protocol) => protocol.runners ?? []);
  const { defaultModel } = agent.models;
  const resolveSubagent = createResolveSubagent({ config, runners, defaultModel });
  const drivers = [
    createLoop(context, { ...agent, resolveSubagent, wakeup: runlog.wakeup }),
    ...opened.flatMap((protocol) => protocol.drivers ?? []),
  ];
  const runs: Runs = await openRuns(context, runlog, { lease, drivers, workDirs });
  closers.defer(() => probe.close());
  probe.open();
  const whyUnfit = (): string | null =>
    probe.whyFailing() ??
    lease.whyNotHeld() ??
    opened.map((protocol) => protocol.whyUnfit?.() ?? null).find((why) => why !== null) ??
    null;
  const { leave, printPush, ...address } = await openServer(context, {
    ...{ core, runs, runners, resolveSubagent, protocols: opened, whyUnfit, plainStreams },
  });
  openCallbacks(context, runlog, printPush);
  ownAddress.resolve(address);
  events.serverListening(address);
  events.directoriesListed({ paths: listedWorkDirs(config) });
  return {
    ...address,
    asksForCredentials: isAuthConfigured(config),
    defaultModel: agent.models.defaultModel,
    bash: agent.toolbox.bash,
    usualWorkDir: workDirs.usual,
    databaseDirectory: database.directory,
    countReaders: () => runlog.broadcaster.readerCount,
    close: async ({ noticeMs } = { noticeMs: 0 }) => {
      leave();
      await clock.sleep(noticeMs);
      await closers.disposeAsync();
    },
  };
}

async function openProtocols(context: AppContext, core: Core): Promise<OpenProtocol[]> {
  const opened: OpenProtocol[] = [];
  for (const protocol of protocols) {
    opened.push(await protocol.open(context, core));
  }
  return opened;
}

async function openStore(options: AppOptions, events: Events, closers: AsyncDisposableStack): Promise<OpenDatabase> {
  const { config, onProgress, signal } = options;
  let growth: GrowthWatch | undefined;
  const database = await openDatabase({
    url: config.databaseUrl,
    directory: config.databaseDir,
    poolSize: config.databasePoolSize,
    onConnectionError: (error) => events.databaseTroubled({ part: "connection", error }),
    onStatement: (durationMs) => {
      events.statementFinished({ durationMs });
      growth?.countStatement();
    },
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  });
  closers.defer(() => database.close());
  if (database.isAdopted) {
    events.postgresAdopted({ directory: database.directory ?? "" });
  }
  const applied = await migrate(database.connections);
  if (applied.length > 0) {
    events.migrationsApplied({ names: applied });
  }
  growth = new GrowthWatch({
    db: database.connections.db,
    onError: (error) => events.databaseTroubled({ part: "growth", error }),
  });
  closers.defer(() => growth?.close());
  const replication = await readReplication(database.connections.db);
  if (mayLoseCommits(replication)) {
    events.standbysAsynchronous({ standbys: replication.standbys });
  }
  return database;
}
