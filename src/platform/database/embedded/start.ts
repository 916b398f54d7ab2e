// Starts the postmaster of a cluster and waits until it accepts connections. It runs in its own session: Ctrl-C in our terminal
// does not reach it, and it survives a kill of this process. Call it under the cluster's lock.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Cluster, childOptions, explainSpawnError } from "./cluster.ts";
import { embeddedFailure } from "./failure.ts";
import { poll } from "./poll.ts";
import { type Address, loopback, readPostmaster } from "./postmaster.ts";

/** Starts the server and returns its address. Throws DATABASE_UNAVAILABLE when it does not start. */
export async function startPostmaster(cluster: Cluster): Promise<Address> {
  boundLog(cluster.logFile);
  const logStart = statSync(cluster.logFile, { throwIfNoEntry: false })?.size ?? 0;
  const address = await chooseAddress(cluster.dataFolder);
  const child = spawnPostmaster(cluster, address);
  let problem: string | undefined;
  child.once("error", (error) => {
    problem = explainSpawnError(error, cluster.binaries.postgres);
  });
  child.once("exit", (code, killSignal) => {
    problem = `Postgres ended while it was starting (${killSignal ?? `exit code ${code}`}).`;
  });
  const look = (): "ready" | "ended" | undefined => {
    if (problem !== undefined) {
      return "ended";
    }
    const postmaster = readPostmaster(cluster.dataFolder);
    return postmaster?.pid === child.pid && postmaster?.isReady ? "ready" : undefined;
  };
  let seen: "ready" | "ended" | undefined;
  try {
    seen = await poll(look, { timeoutMs: startTimeoutMs, signal: cluster.signal });
  } finally {
    if (seen === undefined) {
      child.kill("SIGINT");
      await poll(() => (problem === undefined ? undefined : true), { timeoutMs: stopTimeoutMs });
    }
  }
  if (seen === "ready") {
    return address;
  }
  const output = readFileSync(cluster.logFile).subarray(logStart).toString("utf8");
  const what = problem ?? `Postgres was not ready after ${startTimeoutMs / 1000} s.`;
  throw embeddedFailure(what, { tried: `${cluster.tried}, log in ${cluster.logFile}`, output });
}

/** A clean start takes 40 ms; recovery after a crash replays at most max_wal_size, 1 GB. */
const startTimeoutMs = 60_000;

/** A server that has just started has nothing to write. */
const stopTimeoutMs = 5_000;

/**
 * The maximum size of the log. It holds only starts and failures, about 500 bytes each; an older log moves to one second file.
 */
const logBytesMax = 1_048_576;

/** The port only names the socket's file; each cluster has its own folder. */
const socketPort = 5432;

/** The size of sun_path without its final zero byte. */
const socketPathBytesMax = process.platform === "darwin" ? 103 : 107;

const serverSettings: Readonly<Record<string, string>> = {
  // Modest for a laptop; the operating system's cache does the rest.
  shared_buffers: "64MB",
  fsync: "on",
  timezone: "UTC",
  log_timezone: "UTC",
  // Errors of statements go to their caller. Neither they nor their values belong in a file.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
};

function spawnPostmaster(cluster: Cluster, address: Address): ChildProcess {
  const log = openSync(cluster.logFile, "a", 0o600);
  try {
    const child = spawn(cluster.binaries.postgres, ["-D", cluster.dataFolder, ...formatSettings(address)], {
      ...childOptions(cluster, cluster.dataFolder),
      detached: true,
      stdio: ["ignore", log, log],
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function formatSettings(address: Address): string[] {
  const usesSocket = address.host !== loopback;
  const settings: Record<string, string> = {
    ...serverSettings,
    port: String(address.port),
    listen_addresses: usesSocket ? "" : loopback,
    // A list, hence quoted: a folder's name may contain commas and blanks.
    unix_socket_directories: usesSocket ? `"${address.host.replaceAll('"', '""')}"` : "",
    unix_socket_permissions: "0700",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** The socket is in the data folder, which only its owner may enter. */
async function chooseAddress(dataFolder: string): Promise<Address> {
  const socketBytes = Buffer.byteLength(join(dataFolder, `.s.PGSQL.${socketPort}`));
  const fits = process.platform !== "win32" && socketBytes <= socketPathBytesMax;
  return fits ? { host: dataFolder, port: socketPort } : { host: loopback, port: await pickFreePort() };
}

function pickFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, loopback, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Postgres appends, so the file may be truncated while an orphaned server still holds it. */
function boundLog(logFile: string): void {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) <= logBytesMax) {
    return;
  }
  copyFileSync(logFile, `${logFile}.1`);
  truncateSync(logFile);
}
