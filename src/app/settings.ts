// All settings: those of the core and those of the protocols.

import { modelRequirements } from "../agent/models/requirements.ts";
import { type Config, type KeyTable, keys, type SettingsTable } from "../platform/config/keys.ts";
import { type ConfigSources, type Environment, readConfig } from "../platform/config/load.ts";
import { protocols } from "./protocols.ts";

const tables = protocols.flatMap((protocol) => protocol.settings ?? []);

/** The table of all settings, grouped by section. */
export const settings: SettingsTable = {
  keys: groupBySection(Object.assign({}, keys, ...tables.map((table) => table.keys))),
  findProblems: (config, isValid) => tables.flatMap((table) => table.findProblems?.(config, isValid) ?? []),
  ...modelRequirements,
  devDefaults: Object.assign({}, ...tables.map((table) => table.devDefaults)),
};

/** Returns the sources of settings from the environment and `flags` alone, without a file. */
export function sourcesOf(environment: Environment, flags: Partial<Config> = {}): ConfigSources {
  return { table: settings, environment, directory: ".", home: "", file: false, flags };
}

/** Reads the settings from the environment and `flags` alone, without a file. */
export function loadConfig(environment: Environment, flags: Partial<Config> = {}): Config {
  return readConfig(sourcesOf(environment, flags));
}

/** Groups the keys by section: a section may have settings of the core and of a protocol. */
function groupBySection(all: KeyTable): KeyTable {
  const sections = Map.groupBy(Object.entries(all), ([, { path }]) => path.split(".", 1)[0]);
  return Object.fromEntries([...sections.values()].flat());
}
