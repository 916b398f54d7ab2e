// Resolves each setting from its sources: defaults < YAML file < environment < command line. Problems are collected, never
// thrown; an invalid value leaves the default in place.

import { type ConfigFile, openConfigFile } from "./config-file.ts";
import { Expected, Refused } from "./key.ts";
import type { Config, Key, KeyName, SettingsTable } from "./keys.ts";
import { type Problem, quote } from "./problem.ts";
import { readStatements, type Statements } from "./statements.ts";
import { type Environment, findSecretFile, findUnknownVariables, findVariable } from "./variables.ts";

/** The sources of settings. */
export interface ConfigSources {
  readonly table: SettingsTable;
  readonly environment: Environment;
  /** The working directory of the command. ./config.yaml and relative paths are relative to it. */
  readonly directory: string;
  /** The folder of .config/agent-runner/config.yaml; empty for an account without a home. */
  readonly home: string;
  /** The named YAML file; false to read no file, not even a default one. */
  readonly file?: string | false | undefined;
  /** `key=value` texts of --set. */
  readonly settings?: readonly string[] | undefined;
  /** Values of dedicated options, which the command checks itself. */
  readonly flags?: Partial<Config> | undefined;
  /** The defaults of a command that differ. */
  readonly defaults?: Partial<Config> | undefined;
}

/** A resolved setting. */
export interface Setting {
  readonly value: unknown;
  /** "default", "file <path>", "environment <VAR>", "file of <VAR>_FILE" or "flag". */
  readonly origin: string;
  readonly isValid: boolean;
}

/** All resolved settings and their problems. */
export interface Resolution {
  readonly config: Config;
  readonly settings: Readonly<Record<KeyName, Setting>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** False when a file could not be read: settings that seem missing may be in it. */
  readonly isComplete: boolean;
}

/** Resolves all settings. Never throws for invalid ones. */
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
  // Only the command line can pass an empty text: elsewhere it means unset.
  const value = found.text === "" ? key.fallback : key.read(found.text);
  if (value instanceof Expected || value instanceof Refused) {
    problems.push(describeWrong(key, found, value));
    return { value: fallback, origin, isValid: false };
  }
  return { value, origin, isValid: true };
}

interface Found {
  readonly origin: string;
  /** The source's name in messages. */
  readonly label: string;
  readonly field: string;
  readonly text: string;
  readonly problem?: Problem;
}

/** Returns the text from the strongest source that has one. */
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
