// The service inside the test's process, on a port and a database of its own.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFailed, onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app/app.ts";
import { sourcesOf } from "../../src/app/settings.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { type ConfigSources, type Environment, readConfig } from "../../src/platform/config/load.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { credentialsOf, testKeys } from "./credentials.ts";
import { giveDatabase, takeDatabase, testDatabase } from "./database.ts";
import { Pool } from "./pool.ts";
import type { PooledDatabase } from "./pooled-database.ts";
import { until } from "./wait.ts";

export interface TestService {
  readonly url: string;
  /** host:port, as grpc-js wants it. */
  readonly target: string;
  readonly databaseUrl: string;
  readonly app: App;
  close(): Promise<void>;
}

interface ServiceOptions {
  /** Variables with settings that `flags` leaves out. */
  readonly environment?: Environment;
  /** Replaces the system clock, for tests that move time. */
  readonly clock?: Clock;
  readonly plainStreams?: boolean;
  /** For tests of what a service keeps in its memory, such as its metrics: no other test uses it before or after. */
  readonly own?: boolean;
}

interface PooledService extends TestService {
  readonly database: PooledDatabase;
  readonly isClosed: () => boolean;
  /** Closes the service and gives its database back. */
  readonly end: () => Promise<void>;
  /** The replicas when the service had opened. */
  readonly replicas: readonly string[];
}

const services = new Pool<PooledService>(({ end }) => end());

/** The warnings and errors that the services of the test have logged: callers do not see the cause of an internal one. */
const logged: string[] = [];

/**
 * Starts a service on an empty database, which knows the clients of the tests. The next test of the file may get it, emptied.
 */
export async function startService(flags: Partial<Config> = {}, options: ServiceOptions = {}): Promise<TestService> {
  const { clock, plainStreams = false, own = false } = options;
  logged.length = 0;
  onTestFailed(() => void process.stderr.write(logged.join("")));
  if (own || clock !== undefined || flags.databaseUrl !== undefined || flags.metricsPort !== undefined) {
    const service = await openService(flags, options);
    onTestFinished(service.close);
    return service;
  }
  const key = JSON.stringify([flags, options.environment, plainStreams]);
  const service = services.take(key) ?? (await openPooled(flags, options));
  onTestFinished(async () => {
    if (!service.isClosed() && (await endRuns(service)) && (await service.database.empty(service.replicas))) {
      await services.give(key, service);
    } else {
      await service.end();
    }
  });
  return service;
}

/** Cancels the runs that a test has left in the service. Returns false if one does not end. */
async function endRuns({ url, database, replicas }: PooledService): Promise<boolean> {
  const left = await database.listWork(replicas);
  // The worker has gone with the test, so such a run lasts for its grace period.
  if (left.some(({ driver }) => driver === "remote-runner")) {
    return false;
  }
  for (const { client } of testKeys.filter(({ client }) => left.some((run) => run.client === `key/${client}`))) {
    const headers = { ...credentialsOf(client), "content-type": "application/json" };
    await fetch(`${url}/v1/runs:cancel`, { method: "POST", headers, body: '{"all":true}' });
  }
  const isIdle = async (): Promise<boolean> => (await database.listWork(replicas)).length === 0;
  return left.length === 0 || (await until("runs to end", isIdle, endedWithinMs).catch(() => false));
}

/** A run that ends later costs more than another service. */
const endedWithinMs = 1_000;

async function openPooled(flags: Partial<Config>, options: ServiceOptions): Promise<PooledService> {
  const database = await takeDatabase();
  const databaseUrl = database.url;
  const service = await openService({ ...flags, databaseUrl }, options).catch(async (error: unknown) => {
    await giveDatabase(database);
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= service.close();
    return closing;
  };
  const end = async (): Promise<void> => {
    await close();
    await giveDatabase(database);
  };
  return {
    ...service,
    database,
    close,
    end,
    isClosed: () => closing !== undefined,
    replicas: await database.listReplicas(),
  };
}

async function openService(
  flags: Partial<Config>,
  { clock, environment = {}, plainStreams = false }: ServiceOptions,
): Promise<TestService> {
  const databaseUrl = flags.databaseUrl ?? (await testDatabase());
  const workRoot = await makeWorkRoot();
  const sources = testSources(environment, { sessionsWorkRoot: workRoot, ...flags, databaseUrl });
  const removeWorkRoot = (): Promise<void> => rm(workRoot, { recursive: true, force: true });
  const app = await openApp({
    config: readConfig(sources),
    sources,
    logger: createLogger("warn", { write: (line) => void logged.push(line) }),
    plainStreams,
    ...(clock !== undefined && { clock }),
  }).catch(async (error: unknown) => {
    await removeWorkRoot();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= app.close().then(removeWorkRoot);
    return closing;
  };
  const target = `${app.host}:${app.port}`;
  return { url: `http://${target}`, target, databaseUrl, app, close };
}

async function makeWorkRoot(): Promise<string> {
  const workRoot = await mkdtemp(join(tmpdir(), "runnel-work-"));
  // Commands of a service of root run as another user, who needs to reach this folder.
  await chmod(workRoot, 0o711);
  return workRoot;
}

/**
 * Small pools, so that many services fit on one Postgres; a free port; no long waits at the end; sessions may name the folders of
 * tests.
 */
function testSources(environment: Environment, flags: Partial<Config>): ConfigSources {
  const defaults = {
    serverHost: "127.0.0.1",
    serverPort: 0,
    rateLimitRps: 0,
    rateLimitFailuresRps: 0,
    authApiKeys: testKeys,
    serverDrainSeconds: 1,
    databasePoolSize: 4,
    retryBaseMs: 10,
    defaultModel: "demo",
    sessionsWorkDirs: ["/"],
  };
  return sourcesOf(environment, { ...defaults, ...flags });
}
