// Reads the settings from the environment. Everything that is wrong is told at once, with what would be right.

import { readFileSync } from "node:fs";
import { Fault, type FieldViolation } from "../base/fault.ts";
import { type Config, Expected, type Key, keys } from "./keys.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Defaults, then the environment, then what the command line says. */
export function loadConfig(environment: Environment, flags: Partial<Config> = {}): Config {
  const violations: FieldViolation[] = [];
  const values = Object.entries<Key<unknown>>(keys).map(([name, key]) => [name, read(key, environment, violations)]);
  if (violations.length > 0) {
    const list = violations.map((violation) => `${violation.field} ${violation.description}`).join("; ");
    throw new Fault("CONFIG_INVALID", `invalid configuration: ${list}`, { violations });
  }
  return { ...Object.fromEntries(values), ...flags } as Config;
}

function read(key: Key<unknown>, environment: Environment, violations: FieldViolation[]): unknown {
  const found = find(key, environment, violations);
  if (found === undefined) {
    return key.fallback;
  }
  const value = key.read(found.text);
  if (!(value instanceof Expected)) {
    return value;
  }
  const shown = key.secret === true ? "is not valid" : `is "${found.text}"`;
  violations.push({ field: found.name, description: `${shown}: expected ${value.what}` });
  return key.fallback;
}

interface Found {
  readonly name: string;
  readonly text: string;
}

/** The variable that counts, or for a secret the file that its `…_FILE` names. */
function find(key: Key<unknown>, environment: Environment, violations: FieldViolation[]): Found | undefined {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const name = key.env.find(isSet);
  if (name !== undefined) {
    return { name, text: environment[name] ?? "" };
  }
  const fileName = key.secret === true ? key.env.map((each) => `${each}_FILE`).find(isSet) : undefined;
  if (fileName === undefined) {
    return undefined;
  }
  try {
    const text = readFileSync(environment[fileName] ?? "", "utf8").trim();
    return text === "" ? undefined : { name: fileName, text };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    violations.push({ field: fileName, description: `names a file that cannot be read (${why})` });
    return undefined;
  }
}
