// The files that hold secret settings, so that other code can keep away from them.

import { resolve } from "node:path";
import { openConfigFile } from "./config-file.ts";
import type { ConfigSources } from "./load.ts";
import { fileVariables } from "./variables.ts";

/** Returns the YAML file, even without secrets, and every file that a variable names. */
export function secretFilesOf(sources: ConfigSources): readonly string[] {
  const { environment, directory, table } = sources;
  const variables = Object.values(table.keys).flatMap(fileVariables);
  const named = variables.flatMap((name) => (environment[name] ? [resolve(directory, environment[name])] : []));
  const file = openConfigFile(sources);
  return file === undefined ? named : [file.path, ...named];
}
