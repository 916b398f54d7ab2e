// Runnel behind a real PgBouncer: refused with the reason in each mode, also when PgBouncer ignores unknown settings.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/platform/database/open.ts";
import { openFolder } from "../fixtures.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { query, testDatabase } from "../harness/database.ts";
import { findFreePorts } from "../harness/free-ports.ts";

const ignored =
  "ignore_startup_parameters = extra_float_digits,statement_timeout,lock_timeout,idle_in_transaction_session_timeout," +
  "default_transaction_isolation,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count";

/** Starts PgBouncer before a database. Returns the URL of the database behind it. */
async function startPooler(databaseUrl: string, settings: readonly string[]): Promise<string> {
  // The database of the tests listens on a socket that only its owner may use.
  const { url: tcpUrl } = await openCuttingProxy(databaseUrl);
  const { username, password, hostname, port: serverPort, pathname } = new URL(tcpUrl);
  const folder = await openFolder();
  const [port = 0] = await findFreePorts(1);
  const name = pathname.slice(1);
  const login = `user=${username} password=${decodeURIComponent(password)}`;
  const lines = [
    "[databases]",
    `${name} = host=${hostname} port=${serverPort} dbname=${name} ${login}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    // PgBouncer refuses to run as root.
    ...(userInfo().uid === 0 ? ["user = nobody"] : []),
    ...settings,
  ];
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, `${lines.join("\n")}\n`);
  const child = spawn("pgbouncer", [file], { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
  });
  let log = "";
  for await (const chunk of child.stderr) {
    log += chunk;
    if (log.includes("process up")) {
      break;
    }
  }
  expect(log).toContain("process up");
  return `postgres://${username}@127.0.0.1:${port}/${name}`;
}

async function refusalOf(url: string): Promise<string> {
  const opening = openDatabase({ url, directory: "", poolSize: 4, onConnectionError: () => {} });
  const refused = await opening.then(
    async (open) => {
      await open.close();
      return new Error("it was opened");
    },
    (error: Error) => error,
  );
  return refused.message;
}

test.each([
  ["session", [], "unsupported startup parameter"],
  ["transaction", [], "unsupported startup parameter"],
  ["session", [ignored], "it drops the time limits of connections"],
  ["transaction", [ignored], "it drops the time limits of connections"],
])("in %s mode with %j: %s", async (mode, settings, why) => {
  const url = await startPooler(await testDatabase(), [`pool_mode = ${mode}`, ...settings]);
  const refusal = await refusalOf(url);
  expect(refusal).toContain(why);
  expect(refusal).toContain("names a pooler such as PgBouncer, and Runnel needs Postgres itself");
});

test("in transaction mode, when the login has time limits of its own", async () => {
  const databaseUrl = await testDatabase();
  const { pathname } = new URL(databaseUrl);
  await query(databaseUrl, `alter database "${pathname.slice(1)}" set statement_timeout = '30s'`);
  const url = await startPooler(databaseUrl, ["pool_mode = transaction", ignored]);
  expect(await refusalOf(url)).toContain("two connections share one session");
});
