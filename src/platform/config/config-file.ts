// The YAML file: where it is looked for, and what is told of it.

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { readText } from "./file.ts";
import type { KeyTable, SettingsTable } from "./keys.ts";
import { describeError, type Problem } from "./problem.ts";
import { readYaml, type YamlSettings } from "./yaml.ts";

export interface ConfigFile {
  readonly path: string;
  readonly settings: YamlSettings["settings"];
  readonly problems: readonly Problem[];
  /** False where nothing in it counts, since some of it is not understood. */
  readonly isRead: boolean;
  readonly warnings: readonly string[];
}

export interface ConfigFilePlace {
  readonly table: Pick<SettingsTable, "keys">;
  /** The folder that the command was started in. */
  readonly directory: string;
  /** Empty for an account without one. */
  readonly home: string;
  /** The file that was named; false for none at all. */
  readonly file?: string | false | undefined;
}

/** A file with every key and a page of comment has a tenth of it. */
const fileBytesMax = 256 * 1_024;

/** A file that was named has to be there; the two that are looked for may be missing. */
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

/** A folder that cannot even be looked into, such as another account's home, has no file for us. */
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

/** Not an error: in a container of its own nobody else is there to read it. */
function warnOfReaders(path: string, settings: YamlSettings["settings"], keys: KeyTable): string[] {
  const hasSecrets = Object.values(keys).some((key) => key.secret === true && settings.has(key.path));
  // Windows has no such bits, and reports them as set.
  if (!hasSecrets || process.platform === "win32" || (statSync(path).mode & readableByOthers) === 0) {
    return [];
  }
  return [`${path} holds secrets and can be read by others: chmod 600 it, or keep the secrets in files of their own`];
}
