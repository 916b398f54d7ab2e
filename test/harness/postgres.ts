// One Postgres for a whole test run: the embedded one in a folder of its own, or the server that
// DATABASE_URL names. A server that does not start fails the run; nothing is skipped.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openConnections } from "../../src/storage/database.ts";
import { openEmbeddedPostgres } from "../../src/storage/embedded/open.ts";
import { migrate } from "../../src/storage/migrate.ts";
import { createDatabase, databaseUrl, dropDatabase } from "./database.ts";

declare module "vitest" {
  export interface ProvidedContext {
    databaseUrl: string;
    templateName: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await openServer();
  const templateName = `runnel_template_${process.pid}`;
  project.provide("databaseUrl", server.url);
  project.provide("templateName", templateName);
  await createDatabase(server.url, templateName, undefined);
  await migrateTemplate(databaseUrl(server.url, templateName));
  return async () => {
    await dropDatabase(server.url, templateName);
    await server.close();
  };
}

async function openServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const named = process.env.DATABASE_URL ?? "";
  if (named !== "") return { url: named, close: async () => {} };
  const home = await mkdtemp(join(tmpdir(), "runnel-test-"));
  // Postgres of root runs under another account, which has to pass through to its data.
  await chmod(home, 0o711);
  const embedded = await openEmbeddedPostgres({ directory: join(home, "database") });
  return {
    url: embedded.connectionString,
    close: async () => {
      await embedded.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function migrateTemplate(url: string): Promise<void> {
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  await migrate(connections.db);
  await connections.close();
}
