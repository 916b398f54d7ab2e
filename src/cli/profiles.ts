// The profiles of a user: services with the keys that call them. Their file holds secrets, so it is its owner's alone.

import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { isObject, parseObject } from "../platform/base/json/parse-object.ts";
import { findNearest } from "../platform/base/nearest.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { findHome } from "./home.ts";
import { readInput } from "./input.ts";
import { NewFile } from "./new-file.ts";

/** A service, and the key that calls it; the key is empty for a service without credentials. */
export interface Profile {
  readonly url: string;
  readonly apiKey: string;
}

/** The profiles by their names. */
export type Profiles = ReadonlyMap<string, Profile>;

/** The profile of commands that name none. */
export const defaultProfile = "default";

const bytesMax = 1_048_576;
const ownMode = 0o600;
const othersMode = 0o077;
const ownFolder = "set XDG_CONFIG_HOME to the path of a folder of yours";

/**
 * Returns the path of the file, which is absolute: a folder that a command works in must not choose the service. Returns "" for an
 * account without a home.
 */
export function profilesPath({ XDG_CONFIG_HOME: folder = "" }: NodeJS.ProcessEnv): string {
  const settings = isAbsolute(folder) ? folder : join(findHome(), ".config");
  return isAbsolute(settings) ? join(settings, "runnel", "profiles.json") : "";
}

/** Returns the profiles; none without a file. Throws a `CommandError` when the file is unreadable, invalid or open to others. */
export async function readProfiles(path: string): Promise<Profiles> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    return new Map();
  }
  assertOwn(path, found.mode);
  const members = Object.entries(parseObject(await readText(path)) ?? refuse(path));
  return new Map(members.map(([name, each]) => [name, toProfile(path, each)]));
}

/** Writes the profiles. Without any it removes the file. */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  if (profiles.size === 0) {
    await rm(path, { force: true });
    return;
  }
  if (path === "") {
    throw new CommandError("this account has no home", { reason: "FILE_UNWRITABLE", fix: ownFolder });
  }
  await makeFolder(dirname(path));
  await using file = await NewFile.open(path, { force: true, mode: ownMode });
  const plain = [...profiles].map(([name, { url, apiKey }]) => [name, { url, api_key: apiKey }]);
  await file.write(`${JSON.stringify(Object.fromEntries(plain), null, 2)}\n`);
  await file.keep();
}

/** Returns the error of a name that no profile has. */
export function unknownProfile(profiles: Profiles, name: string): CommandError {
  const nearest = findNearest(name, [...profiles.keys()]);
  const fix = nearest === undefined ? `\`runnel login --profile ${name}\` makes it` : `did you mean ${nearest}?`;
  return new CommandError(`there is no profile ${name}`, {
    ...{ reason: "PROFILE_UNKNOWN", fix, exitCode: exitCodes.invalidUsage },
  });
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const what = `cannot make ${path}: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new CommandError(what, { reason: "FILE_UNWRITABLE", fix: ownFolder, cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return (await readInput(path, bytesMax)).toString();
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    const fix = "make it a file that you own, or remove it and `runnel login` again";
    throw new CommandError(what, { reason: "FILE_UNREADABLE", fix, cause });
  }
}

/** Windows keeps a user's folder from other users by other means. */
function assertOwn(path: string, mode: number): void {
  if (process.platform !== "win32" && (mode & othersMode) !== 0) {
    throw new CommandError(`other users of this machine may read or write ${path}, which holds API keys`, {
      reason: "FILE_TOO_OPEN",
      fix: `chmod 600 ${path}; replace the keys if others could have read them`,
    });
  }
}

function toProfile(path: string, value: unknown): Profile {
  const { url, api_key: apiKey } = isObject(value) ? value : {};
  return typeof url === "string" && URL.canParse(url) && typeof apiKey === "string" ? { url, apiKey } : refuse(path);
}

function refuse(path: string): never {
  throw new CommandError(`${path} is no file of profiles`, {
    reason: "INVALID_FILE",
    fix: "remove it, and `runnel login` again",
  });
}
