// The database without setup: a real Postgres from an npm package, with its data in one directory. All Runnel processes of a
// machine that name this directory share it. The first one creates and starts it; later ones join, even after a kill -9 of the
// first. Each process holds one connection while it uses the database. The last one to leave stops the server, even by a forced
// end, and regardless of which process started it. A crash of the last user leaves it running; the next one joins it in
// milliseconds.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { beforeForcedEnd } from "../../base/forced-end.ts";
import { createFolder } from "./account.ts";
import { type Attachment, attachToPostmaster } from "./attach.ts";
import { findPackage, locateProgram, type PackageFinder, type PostgresPackage, prepareBinaries } from "./binaries.ts";
import type { Cluster } from "./cluster.ts";
import { findDiskProblem } from "./disk.ts";
import { embeddedFailure, messageOf } from "./failure.ts";
import { initialiseCluster } from "./initialise.ts";
import { acquireLock } from "./lock.ts";
import {
  connectPresence,
  databaseName,
  formatConnectionString,
  type Identity,
  type Login,
  readOrCreatePassword,
  userName,
} from "./login.ts";
import { choosePlace, dataFolderOf, hasCluster, lockFileOf, type Place } from "./place.ts";
import { startPostmaster } from "./start.ts";
import { countOthers, leaveCluster, stopPostmaster, type Usage } from "./stop.ts";

/** Options of the embedded Postgres. */
export interface EmbeddedOptions {
  /** Relative to the working directory. Created when missing. */
  readonly directory: string;
  /** Receives messages about slow steps, and about files that cannot be in the directory. */
  readonly onProgress?: (message: string) => void;
  /** Ends the wait for a start; a server started by then is stopped again. */
  readonly signal?: AbortSignal;
  /** As root: the folder for data and programs that the account of Postgres could not reach otherwise. */
  readonly systemFolder?: string;
  /** Finds the package with the programs. Default: Node's resolution. */
  readonly findPackageFolder?: PackageFinder;
}

/** The embedded Postgres as one process uses it. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** Contains the password: never log it. */
  readonly connectionString: string;
  readonly login: Login;
  /** The data directory: the absolute `directory` of the options, unless the account could not reach it. */
  readonly directory: string;
  /** False when the server was already running. */
  readonly startedHere: boolean;
  /** True when this call created the cluster. */
  readonly initialised: boolean;
  /** True when the server was running without users: its last user crashed. */
  readonly isAdopted: boolean;
  /**
   * Stops the server unless other clients are connected. Close every pool first. Later calls return the first one's promise.
   */
  stop(): Promise<void>;
}

/**
 * Opens the embedded Postgres. Throws DATABASE_UNAVAILABLE when it cannot be used, and the signal's reason when that aborts.
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const forced = new AbortController();
  const signal = AbortSignal.any([forced.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const opening = openCluster({ ...options, signal });
  const guard = beforeForcedEnd(async () => {
    forced.abort();
    const usage = await opening;
    await leaveCluster(usage, "processes");
  });
  try {
    return describeOpened(await opening, guard);
  } catch (error) {
    guard[Symbol.dispose]();
    options.signal?.throwIfAborted();
    const problem = findDiskProblem(options.directory, messageOf(error));
    if (problem !== undefined) {
      throw embeddedFailure(problem, { cause: error });
    }
    if (error instanceof Fault) {
      throw error;
    }
    throw embeddedFailure(`The embedded Postgres in ${options.directory} could not be used: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** The folder for root, where the Linux file hierarchy puts the state of services. */
export const defaultSystemFolder = "/var/lib/runnel";

type OpenCluster = Usage & Pick<EmbeddedPostgres, "startedHere" | "initialised" | "isAdopted">;

async function openCluster(options: EmbeddedOptions): Promise<OpenCluster> {
  const { directory, signal, onProgress = () => {}, systemFolder = defaultSystemFolder } = options;
  const source = findPackage(options.findPackageFolder);
  const place = choosePlace(directory, systemFolder);
  const { home, account } = place;
  if (place.relocated) {
    onProgress(`The database of ${directory} is kept in ${home}, which account ${account?.name} can reach.`);
  }
  // The account may pass through the folder to its data, but reads nothing else in it.
  createFolder(home, account === undefined ? 0o700 : 0o711);
  using _lock = await acquireLock(lockFileOf(home), signal);
  refuseOtherMajorVersion(home, source);
  const initialised = !hasCluster(home);
  const password = readOrCreatePassword(home);
  const identity: Identity = { user: userName, password, database: databaseName };
  const attachment = initialised ? undefined : await attachToPostmaster(home, identity, signal);
  const pgCtl = locateProgram(source.folder, "pg_ctl");
  if (attachment !== undefined) {
    const { socket } = attachment.presence;
    socket.ref();
    const isAdopted = (await countOthers(attachment.presence, "processes")) === 0;
    socket.unref();
    return { home, pgCtl, ...attachment, startedHere: false, initialised: false, isAdopted };
  }

  const linkFolder = join(home, "lib");
  const binaries = await prepareBinaries(source, { account, linkFolder, systemFolder, onProgress });
  const cluster: Cluster = {
    home,
    dataFolder: dataFolderOf(home),
    logFile: join(home, "postgres.log"),
    password,
    account,
    binaries,
    tried: describeAttempt(source, place, binaries.postgres),
    signal,
  };
  if (initialised) {
    onProgress(`Creating the database in ${home}.`);
    await initialiseCluster(cluster);
  }
  const joined = await startAndJoin(cluster, identity, pgCtl);
  return { home, pgCtl, ...joined, startedHere: true, initialised, isAdopted: false };
}

function refuseOtherMajorVersion(home: string, source: PostgresPackage): void {
  if (!hasCluster(home)) {
    return;
  }
  const dataFolder = dataFolderOf(home);
  const found = readFileSync(join(dataFolder, "PG_VERSION"), "utf8").trim();
  if (found === source.majorVersion) {
    return;
  }
  throw embeddedFailure(
    [
      `${dataFolder} holds data of Postgres ${found}, and ${source.name} ${source.version} brings Postgres ` +
        `${source.majorVersion}, which cannot read it. Nothing was changed. To move the data:`,
      "  1. Start the version of Runnel that wrote it, and dump the database with pg_dump.",
      `  2. Stop it, move ${home} away, and start this version, which makes a new directory.`,
      "  3. Restore the dump there, or into a Postgres of your own that DATABASE_URL names.",
      "docs/operations/backup.md has each command.",
    ].join("\n"),
  );
}

function describeAttempt(source: PostgresPackage, place: Place, program: string): string {
  const account =
    place.account === undefined ? "this user" : `account ${place.account.name} (uid ${place.account.uid})`;
  return `Postgres of ${source.name} ${source.version} (${program}), run as ${account}, data in ${dataFolderOf(place.home)}`;
}

async function startAndJoin(cluster: Cluster, identity: Identity, pgCtl: string): Promise<Attachment> {
  const login = { ...identity, ...(await startPostmaster(cluster)) };
  try {
    return { login, presence: await connectPresence(login) };
  } catch (error) {
    await stopPostmaster(cluster.dataFolder, pgCtl);
    throw error;
  }
}

function describeOpened(cluster: OpenCluster, guard: Disposable): EmbeddedPostgres {
  const { home, login, startedHere, initialised, isAdopted } = cluster;
  let left: Promise<void> | undefined;
  const leave = async (): Promise<void> => {
    await leaveCluster(cluster, "clients");
    guard[Symbol.dispose]();
  };
  const stop = (): Promise<void> => {
    left ??= leave();
    return left;
  };
  return {
    connectionString: formatConnectionString(login),
    login,
    directory: home,
    startedHere,
    initialised,
    isAdopted,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
