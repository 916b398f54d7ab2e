// Finds the programs of a cluster: Postgres, etcd, HAProxy and PgBouncer of Debian, and Patroni, which is installed beside this file.

import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    patroni: string;
    /** The folder of the programs of Postgres. */
    postgresPrograms: string;
  }
}

const run = promisify(execFile);
const environment = join(import.meta.dirname, ".venv");
const patroni = join(environment, "bin/patroni");

export async function setup(project: TestProject): Promise<void> {
  const [newest] = globSync("/usr/lib/postgresql/*/bin").sort().reverse();
  const missing = ["etcd", "haproxy", "pgbouncer"].filter((name) => !isInstalled(name));
  if (newest === undefined || missing.length > 0) {
    throw new Error(
      "npm run ha needs programs: apt-get install -y --no-install-recommends postgresql etcd-server haproxy pgbouncer",
    );
  }
  if (!existsSync(patroni)) {
    await run("python3", ["-m", "venv", environment]);
    const packages = join(import.meta.dirname, "python.txt");
    const install = ["install", "--disable-pip-version-check", "--no-deps", "-r", packages];
    await run(join(environment, "bin/pip"), install);
  }
  project.provide("patroni", patroni);
  project.provide("postgresPrograms", newest);
}

function isInstalled(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, name)));
}
