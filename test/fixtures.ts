// Makes what a test names: `test("…", async ({ service, provider }) => { … })`. The runner closes it with the test.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test as plainTest } from "vitest";
import { type FakeProvider, type Script, startFakeProvider } from "./fakes/provider.ts";
import { startWireServer, type WireServer } from "./fakes/wire-server.ts";
import { credentialsOf } from "./harness/credentials.ts";
import { testDatabase } from "./harness/database.ts";
import { GrpcClient } from "./harness/grpc.ts";
import { startService } from "./harness/service.ts";
import { openStore } from "./runlog/store.ts";

export const test = plainTest
  .extend("folder", () => openFolder())
  .extend("databaseUrl", () => testDatabase())
  .extend("store", () => openStore())
  .extend("provider", () => openProvider())
  .extend("server", () => openWireServer())
  .extend("service", () => startService())
  .extend("client", ({ service }) => new GrpcClient(service.target))
  .extend("stranger", ({ service }) => new GrpcClient(service.target, credentialsOf("stranger")));

/** Makes a folder that is removed with the test. */
export async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a provider that is closed with the test, and queues these scripts. */
export async function openProvider(...scripts: readonly Script[]): Promise<FakeProvider> {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  provider.respond(...scripts);
  return provider;
}

/** The same for a server of any kind. */
export async function openWireServer(describe?: Parameters<typeof startWireServer>[0]): Promise<WireServer> {
  const server = await startWireServer(describe);
  onTestFinished(() => server.close());
  return server;
}
