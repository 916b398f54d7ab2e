// The service inside the test's process, on a port and a database of its own.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app/app.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { testKeys } from "./credentials.ts";
import { testDatabase } from "./database.ts";

export interface TestService {
  readonly url: string;
  /** host:port, as grpc-js wants it. */
  readonly target: string;
  readonly databaseUrl: string;
  readonly app: App;
  close(): Promise<void>;
}

/** It knows the clients of the tests. `clock` replaces the system's, for tests that move time. */
export async function startService(
  flags: Partial<Config> = {},
  { clock, plainStreams = false }: { readonly clock?: Clock; readonly plainStreams?: boolean } = {},
): Promise<TestService> {
  const databaseUrl = flags.databaseUrl ?? (await testDatabase());
  const config = await testConfig({ ...flags, databaseUrl });
  const app = await openApp({
    config,
    logger: createLogger("silent"),
    plainStreams,
    ...(clock !== undefined && { clock }),
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= app.close();
    return closing;
  };
  onTestFinished(close);
  const target = `${app.host}:${app.port}`;
  return { url: `http://${target}`, target, databaseUrl, app, close };
}

/** Small pools, so that many services fit on one Postgres; a free port; nothing waits long at the end. */
async function testConfig(flags: Partial<Config>): Promise<Config> {
  const workRoot = await mkdtemp(join(tmpdir(), "runnel-work-"));
  // Commands of a service of root run as another user, who has to pass through.
  await chmod(workRoot, 0o711);
  onTestFinished(() => rm(workRoot, { recursive: true, force: true }));
  const defaults = {
    serverHost: "127.0.0.1",
    serverPort: 0,
    rateLimitRps: 0,
    rateLimitFailuresRps: 0,
    authApiKeys: testKeys,
    serverDrainSeconds: 1,
    databasePoolSize: 4,
    sessionsWorkRoot: workRoot,
    retryBaseMs: 10,
    defaultModel: "demo",
  };
  return loadConfig({}, { ...defaults, ...flags });
}
