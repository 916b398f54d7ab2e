// Each setting from the source that counts: defaults < YAML file < environment < command line. What is wrong is
// gathered, never thrown; a value that is wrong leaves the default in its place.

import { type ConfigFile, openConfigFile } from "./config-file.ts";
import { Expected, Refused } from "./key.ts";
import type { Config, Key, KeyName, SettingsTable } from "./keys.ts";
import { type Problem, quote } from "./problem.ts";
import { readStatements, type Statements } from "./statements.ts";
import { type Environment, findSecretFile, findUnknownVariables, findVariable } from "./variables.ts";

export interface ConfigSources {
  readonly table: SettingsTable;
  readonly environment: Environment;
  /** The folder that the command was started in: ./config.yaml and relative paths are below it. */
  readonly directory: string;
  /** Where ~/.config/agent-runner/config.yaml is looked for; empty for an account without a home. */
  readonly home: string;
  /** The YAML file that was named; false for none, not even one of the usual places. */
  readonly file?: string | false | undefined;
  /** `key=value`, as --set has them. */
  readonly settings?: readonly string[] | undefined;
  /** What options of their own say; they are checked where they are typed. */
  readonly flags?: Partial<Config> | undefined;
  /** What a command has for defaults where they differ. */
  readonly defaults?: Partial<Config> | undefined;
}

export interface Setting {
  readonly value: unknown;
  /** "default", "file <path>", "environment <VAR>", "file of <VAR>_FILE" or "flag". */
  readonly origin: string;
  readonly isValid: boolean;
}

export interface Resolution {
  readonly config: Config;
  readonly settings: Readonly<Record<KeyName, Setting>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** False where a file could not be read, so that what seems to be missing may stand in it. */
  readonly isComplete: boolean;
}

export function resolveSettings(sources: ConfigSources): Resolution {
  const file = openConfigFile(sources);
  const statements = readStatements(sources.settings ?? [], sources.table.keys);
  const problems: Problem[] = [];
  const { keys } = sources.table;
  const names = Object.keys(keys) as KeyName[];
  const entries = names.map((name) => [name, settle(name, { sources, file, statements }, problems)] as const);
  const settings = Object.fromEntries(entries) as Record<KeyName, Setting>;
  problems.push(...(file?.problems ?? []), ...statements.problems, ...findUnknownVariables(sources.environment, keys));
  return {
    config: Object.fromEntries(entries.map(([name, { value }]) => [name, value])) as unknown as Config,
    settings,
    problems,
    warnings: file?.warnings ?? [],
    isComplete: file?.isRead ?? true,
  };
}

interface Places {
  readonly sources: ConfigSources;
  readonly file: ConfigFile | undefined;
  readonly statements: Statements;
}

function settle(name: KeyName, places: Places, problems: Problem[]): Setting {
  const { flags = {}, defaults = {}, table } = places.sources;
  const key = table.keys[name] as Key<unknown>;
  const fallback = defaults[name] ?? key.fallback;
  if (flags[name] !== undefined) {
    return { value: flags[name], origin: "flag", isValid: true };
  }
  const found = find(key, places);
  if (found === undefined) {
    return { value: fallback, origin: "default", isValid: true };
  }
  const { origin } = found;
  if (found.problem !== undefined) {
    problems.push(found.problem);
    return { value: fallback, origin, isValid: false };
  }
  // Only the command line can say it: elsewhere nothing means unset.
  const value = found.text === "" ? key.fallback : key.read(found.text);
  if (value instanceof Expected || value instanceof Refused) {
    problems.push(describeWrong(key, found, value));
    return { value: fallback, origin, isValid: false };
  }
  return { value, origin, isValid: true };
}

interface Found {
  readonly origin: string;
  /** How a message names it. */
  readonly label: string;
  readonly field: string;
  readonly text: string;
  readonly problem?: Problem;
}

/** The text that counts, from the strongest source that has one. */
function find(key: Key<unknown>, { sources, file, statements }: Places): Found | undefined {
  const { environment, directory } = sources;
  const { path } = key;
  const stated = statements.texts.get(path);
  if (stated !== undefined) {
    return { origin: "flag", label: `--set ${path}`, field: path, text: stated };
  }
  const variable = findVariable(key, environment);
  if (variable !== undefined) {
    const { name, text } = variable;
    return { origin: `environment ${name}`, label: name, field: name, text };
  }
  const secret = findSecretFile(key, environment, directory);
  if (secret !== undefined && "name" in secret) {
    const { name, text } = secret;
    return { origin: `file of ${name}`, label: `the file of ${name}`, field: name, text };
  }
  if (secret !== undefined) {
    return { origin: `file of ${secret.field}`, label: secret.field, field: secret.field, text: "", problem: secret };
  }
  const written = file?.settings.get(path);
  if (file === undefined || written === undefined) {
    return undefined;
  }
  const label = `${file.path}:${written.line}: ${path}`;
  return { origin: `file ${file.path}`, label, field: path, text: written.text };
}

function describeWrong(key: Key<unknown>, { field, label, text }: Found, wrong: Expected | Refused): Problem {
  if (wrong instanceof Refused) {
    return { field: key.path, text: `${key.path} ${wrong.words}` };
  }
  const shown = key.secret === true ? "is not valid" : `is ${quote(text)}`;
  return { field, text: `${label} ${shown}: expected ${wrong.what}` };
}
