// How programs with a Postgres of their own end: by Ctrl-C in a real terminal, by copies of a signal, by a second decision, by
// a terminal that goes away. Postgres ends with them each time.

import { type ChildProcess, execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { copyMsMax, createSignalJudge } from "../../src/cli/interrupt.ts";
import { openConnections } from "../../src/platform/database/database.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { isServing, readPostmaster } from "../../src/platform/database/embedded/postmaster.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { programPath } from "../harness/program.ts";
import { until } from "../harness/wait.ts";
import { ownFolder, type RunningCommand, startCommand, startInTerminal } from "./command.ts";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const ctrlC = "\u0003";
/** Time for npm, an initdb, a service and a Postgres, on a machine with other work. */
const timeout = 240_000;
const startMaxMs = 180_000;
const creating = "Creating the database";

/** A database as a service has left it. Most tests begin with a copy, because making one takes three seconds of a core. */
let prepared = "";

beforeAll(async () => {
  prepared = await mkdtemp(join(tmpdir(), "runnel-prepared-"));
  // When root starts Postgres, it runs under another account, which needs to reach its data.
  await chmod(prepared, 0o711);
  const server = await openEmbeddedPostgres({ directory: prepared });
  const connections = openConnections(server, { poolSize: 2, onConnectionError: () => {} });
  await migrate(connections);
  await connections.close();
  await server.stop();
});

afterAll(() => rm(prepared, { recursive: true }));

test.each([
  ["npm run -s runnel -- dev", ["npm", "run", "-s", "runnel", "--", "dev", "--port", "0"], "/stream\r\n"],
  ["npm run dev", ["npm", "run", "dev", "--", "--port", "0"], "/stream\r\n"],
  ["npx", ["npx", "node", "src/main.ts", "dev", "--port", "0"], "/stream\r\n"],
  ["plain node", [process.execPath, programPath, "dev", "--port", "0"], "/stream\r\n"],
  ["dev while it makes its database", ["npm", "run", "-s", "runnel", "--", "dev", "--port", "0"], creating],
  ["npm run demo in the middle", ["npm", "run", "-s", "demo"], "gRPC #"],
  ["npm run demo at its start", ["npm", "run", "-s", "demo"], creating],
  ["npm run demo between two services", ["npm", "run", "-s", "demo"], "kill -9"],
  ["npm run … migrate", ["npm", "run", "-s", "runnel", "--", "migrate"], creating],
])("one Ctrl-C at %s stops everything", { timeout }, async (_name, line, mark) => {
  const folder = await ownDatabaseFolder({ isNew: mark === creating });
  const terminal = startInTerminal(line, { directory: checkout, environment: { ...alone, ...placesIn(folder) } });
  await until(`"${mark}"`, () => terminal.stdout().includes(mark), startMaxMs);
  terminal.type(ctrlC);
  const { stdout } = await terminal.ended;
  expect(findServers(folder)).toEqual([]);
  expect(stdout).not.toMatch(/^\{/m);
  expect(stdout).not.toMatch(/Error|^ {4}at /m);
});

test("one Ctrl-C at an exchange with its own service stops everything", { timeout }, async () => {
  const folder = await ownDatabaseFolder();
  const line = ["npm", "run", "-s", "runnel", "--", "exchange", "new", "Say hello.", "--dir", folder];
  const terminal = startInTerminal(line, { directory: checkout, environment: alone });
  await until("the first outbox", () => terminal.stdout().includes("chat window"), startMaxMs);
  terminal.type(ctrlC);
  const { code, stdout } = await terminal.ended;
  expect({ code, left: findServers(folder) }).toEqual({ code: 130, left: [] });
  expect(stdout).toContain("nothing is lost: runnel exchange resume");
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s and its copies are one stop, which ends with 0",
  {
    timeout,
  },
  async (signal) => {
    const folder = await ownDatabaseFolder();
    const dev = await startDev(folder);
    for (let copies = 0; copies < 3; copies++) {
      dev.child.kill(signal);
    }
    expect((await dev.ended).code).toBe(0);
    expect(findServers(folder)).toEqual([]);
  },
);

test("signals soon after the first one are copies of it; only one later signal is a second decision", () => {
  const clock = createManualClock();
  const judge = createSignalJudge(clock);
  expect([judge(), judge()]).toEqual(["first", "copy"]);
  clock.advance(copyMsMax - 1);
  expect(judge()).toBe("copy");
  clock.advance(1);
  expect([judge(), judge()]).toEqual(["decision", "late"]);
});

// The story: a call stays open, so the drain would take an hour. The operator signals again, and the service ends at once. Its
// Postgres ends too, although the service closed nothing.
test("a second decision ends a service and its Postgres at once", { timeout }, async () => {
  const folder = await ownDatabaseFolder();
  const dev = await startDev(folder, { RUNNEL_SERVER_DRAIN_SECONDS: "3600" });
  await openCall(dev);
  await signalUntilEnded(dev.child, "SIGINT");
  expect((await dev.ended).code).toBe(130);
  expect(findServers(folder)).toEqual([]);
});

test("a forced end leaves Postgres running for another process that uses it", { timeout }, async () => {
  const folder = await ownDatabaseFolder();
  const other = await startDev(folder);
  const dev = await startDev(folder, { RUNNEL_SERVER_DRAIN_SECONDS: "3600" });
  await openCall(dev);
  await signalUntilEnded(dev.child, "SIGTERM");
  expect((await dev.ended).code).toBe(130);
  expect(findServers(folder)).toHaveLength(1);
  expect((await fetch(`${urlOf(other)}/readyz`)).status).toBe(200);
  other.child.kill("SIGINT");
  expect((await other.ended).code).toBe(0);
  expect(findServers(folder)).toEqual([]);
});

test("after kill -9 the next start adopts Postgres: dev says so in text, serve in one structured line", {
  timeout,
}, async () => {
  const folder = await ownDatabaseFolder();
  const killed = await startDev(folder);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const [orphan] = findServers(folder);
  expect(orphan).toBeDefined();

  const dev = await startDev(folder);
  expect(dev.stderr()).toMatch(/^\S+ warning {2}The embedded Postgres was still running.*postgres\.adopted/m);
  expect(findServers(folder)).toEqual([orphan]);
  dev.child.kill("SIGKILL");
  expect((await dev.ended).stderr).not.toMatch(/^\{/m);

  const serve = startCommand(["serve", "--port", "0"], {
    environment: { ...placesIn(folder), RUNNEL_DEFAULTS_MODEL: "demo" },
  });
  await until("the service to serve", () => serve.stderr().includes("serves on"), startMaxMs);
  const lines = serve
    .stderr()
    .split("\n")
    .filter((line) => line.includes("postgres"));
  expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ msg: "postgres.adopted" })]);
  serve.child.kill("SIGINT");
  expect((await serve.ended).code).toBe(0);
  expect(findServers(folder)).toEqual([]);
});

/** Removes the settings of the tests, so that a program runs as on a user's machine. */
const alone = { DATABASE_URL: "", RUNNEL_AUTH_API_KEYS: "" };

function placesIn(folder: string): Record<string, string> {
  return { RUNNEL_DATABASE_DIR: join(folder, "database"), TMPDIR: folder };
}

async function startDev(folder: string, more: Readonly<Record<string, string>> = {}): Promise<RunningCommand> {
  const environment = { ...alone, ...placesIn(folder), ...more };
  const dev = startCommand(["dev", "--port", "0"], { environment });
  await until("dev to print its lines", () => dev.stderr().includes("/stream\n"), startMaxMs);
  return dev;
}

function urlOf(dev: RunningCommand): string {
  return /^Runnel is ready on (http:\S+)/m.exec(dev.stderr())?.[1] ?? "";
}

/** Opens a call whose body never comes. */
async function openCall(dev: RunningCommand): Promise<void> {
  const socket = connect(Number(new URL(urlOf(dev)).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write("POST /v1/sessions HTTP/1.1\r\nhost: runnel\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
}

/** Signals of the first moment are copies of the first one; a later signal is a decision. */
async function signalUntilEnded(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  await until("the process to end", () => {
    child.kill(signal);
    return child.exitCode !== null || child.signalCode !== null;
  });
}

/** Makes a folder with a database for one test. A Postgres that still runs in it at the end is stopped. */
async function ownDatabaseFolder({ isNew = false } = {}): Promise<string> {
  const folder = await ownFolder();
  if (!isNew) {
    execFileSync("cp", ["--archive", prepared, join(folder, "database")]);
  }
  onTestFinished(async () => {
    for (const { pid, dataFolder } of findServers(folder)) {
      process.kill(pid, "SIGINT");
      await until("Postgres to stop", () => !isServing(pid, dataFolder));
    }
  });
  return folder;
}

function findServers(folder: string): { pid: number; dataFolder: string }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("postmaster.pid"))
    .map((path) => dirname(join(folder, path)))
    .flatMap((dataFolder) => {
      const pid = readPostmaster(dataFolder)?.pid;
      return pid !== undefined && isServing(pid, dataFolder) ? [{ pid, dataFolder }] : [];
    });
}
