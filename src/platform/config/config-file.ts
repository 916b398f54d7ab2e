// The YAML file of settings: where it is searched for, and the problems and warnings about it.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readText } from "./file.ts";
import type { KeyTable, SettingsTable } from "./keys.ts";
import { describeError, type Problem } from "./problem.ts";
import { readYaml, type YamlSettings } from "./yaml.ts";

/** A config file that was read. */
export interface ConfigFile {
  readonly path: string;
  readonly settings: YamlSettings["settings"];
  readonly problems: readonly Problem[];
  /** False when the file could not be parsed, so that none of it counts. */
  readonly isRead: boolean;
  readonly warnings: readonly string[];
}

/** Where to search for the file. */
export interface ConfigFilePlace {
  readonly table: Pick<SettingsTable, "keys">;
  /** The working directory of the command. */
  readonly directory: string;
  /** Empty for an account without a home. */
  readonly home: string;
  /** The named file; false to read no file. */
  readonly file?: string | false | undefined;
}

/** The maximum size, in bytes. A file with every key and a page of comments has a tenth of it. */
const fileBytesMax = 256 * 1_024;

/** Reads the file. A named file must exist; the two default files may be missing. Returns undefined without a file. */
export function openConfigFile({ table, directory, home, file }: ConfigFilePlace): ConfigFile | undefined {
  if (file === false) {
    return undefined;
  }
  if (file !== undefined) {
    return readConfigFile(resolve(directory, file), table.keys);
  }
  const atHome = home === "" ? [] : [join(home, ".config", "agent-runner", "config.yaml")];
  const usual = [join(resolve(directory), "config.yaml"), ...atHome];
  const found = usual.find(isThere);
  return found === undefined ? undefined : readConfigFile(found, table.keys);
}

/** A folder that cannot be entered, such as another account's home, counts as a missing file. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readConfigFile(path: string, keys: KeyTable): ConfigFile {
  try {
    const { settings, problems } = readYaml(readText(path, fileBytesMax), keys);
    return {
      path,
      settings,
      problems: problems.map(({ line, column, key, text }) => ({
        field: key || path,
        text: `${path}:${line}:${column}: ${text}`,
      })),
      isRead: !problems.some(({ key }) => key === undefined),
      warnings: warnOfReaders(path, settings, keys),
    };
  } catch (error) {
    const text = `config file ${path} cannot be read (${describeError(error)}): name another one with --config`;
    return { path, settings: new Map(), problems: [{ field: path, text }], isRead: false, warnings: [] };
  }
}

const readableByOthers = 0o044;

/** Warns when other users can read the secrets of the file. No error: in its own container, no other user exists. */
function warnOfReaders(path: string, settings: YamlSettings["settings"], keys: KeyTable): string[] {
  const hasSecrets = Object.values(keys).some((key) => key.secret === true && settings.has(key.path));
  // Windows has no such permission bits and reports them as set.
  if (!hasSecrets || process.platform === "win32" || (statSync(path).mode & readableByOthers) === 0) {
    return [];
  }
  return [`${path} holds secrets and can be read by others: chmod 600 it, or keep the secrets in files of their own`];
}
