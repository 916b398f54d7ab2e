// The files that settings with secrets come from, so that others can keep away from them.

import { resolve } from "node:path";
import { openConfigFile } from "./config-file.ts";
import type { ConfigSources } from "./load.ts";
import { fileVariables } from "./variables.ts";

/** The YAML file, whatever is in it, and every file that a variable names. */
export function secretFilesOf(sources: ConfigSources): readonly string[] {
  const { environment, directory, table } = sources;
  const variables = Object.values(table.keys).flatMap(fileVariables);
  const named = variables.flatMap((name) => (environment[name] ? [resolve(directory, environment[name])] : []));
  const file = openConfigFile(sources);
  return file === undefined ? named : [file.path, ...named];
}
