// Reads the settings from the environment. Everything that is wrong is told at once, with what would be right.

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
  const name = key.env.find((each) => (environment[each] ?? "") !== "");
  if (name === undefined) {
    return key.fallback;
  }
  const text = environment[name] ?? "";
  const value = key.read(text);
  if (!(value instanceof Expected)) {
    return value;
  }
  const shown = key.secret === true ? "is not valid" : `is "${text}"`;
  violations.push({ field: name, description: `${shown}: expected ${value.what}` });
  return key.fallback;
}
