// Environment variables: finds the variable of a key, and unknown variables.

import { resolve } from "node:path";
import { findNearest } from "../base/nearest.ts";
import { readText } from "./file.ts";
import { type Key, type KeyTable, variablesOfCommands } from "./keys.ts";
import { describeError, type Problem } from "./problem.ts";

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that is set. */
export interface Variable {
  readonly name: string;
  readonly text: string;
}

/** The maximum size of a secret's file, in bytes. It fits the keys of very many clients. */
const secretBytesMax = 1_048_576;

/** Returns the first variable that sets `key`, or undefined. An empty variable counts as unset. */
export function findVariable(key: Key<unknown>, environment: Environment): Variable | undefined {
  const name = key.variables.find((each) => isSet(each, environment));
  return name === undefined ? undefined : { name, text: environment[name] ?? "" };
}

/**
 * Returns the trimmed content of the file that `…_FILE` names for a secret. Returns undefined when no file is named or it is
 * empty.
 */
export function findSecretFile(
  key: Key<unknown>,
  environment: Environment,
  directory: string,
): Variable | Problem | undefined {
  const name = fileVariables(key).find((each) => isSet(each, environment));
  if (name === undefined) {
    return undefined;
  }
  try {
    const text = readText(resolve(directory, environment[name] ?? ""), secretBytesMax).trim();
    return text === "" ? undefined : { name, text };
  } catch (error) {
    return { field: name, text: `${name} names a file that cannot be read (${describeError(error)})` };
  }
}

/** Returns the names of the `…_FILE` variables of a secret; an empty list for other settings. */
export function fileVariables(key: Key<unknown>): readonly string[] {
  return key.secret === true ? key.variables.map((name) => `${name}_FILE`) : [];
}

const ourPrefix = /^(?:RUNNEL|AGENT_RUNNER)_/;

/** Returns a problem for each unknown variable with our prefix: its operator believes that the setting is set. */
export function findUnknownVariables(environment: Environment, keys: KeyTable): Problem[] {
  const all = Object.values(keys);
  const known = [...all.flatMap((key) => [...key.variables, ...fileVariables(key)]), ...variablesOfCommands];
  return Object.keys(environment)
    .filter((name) => ourPrefix.test(name) && isSet(name, environment) && !isServiceLink(name) && !known.includes(name))
    .sort()
    .map((name) => {
      const meant = findMeant(name, known);
      const fix = meant === undefined ? "`runnel config explain` lists all keys" : `did you mean ${meant}?`;
      return { field: name, text: `unknown variable ${name}: ${fix}` };
    });
}

function findMeant(name: string, known: readonly string[]): string | undefined {
  const [prefix = ""] = ourPrefix.exec(name) ?? [];
  const other = prefix === "RUNNEL_" ? "AGENT_RUNNER_" : "RUNNEL_";
  const word = name.slice(prefix.length);
  const rests = (from: string) => known.filter((each) => each.startsWith(from)).map((each) => each.slice(from.length));
  const sameName = rests(other).find((each) => each === word);
  if (sameName !== undefined) {
    return `${other}${sameName}`;
  }
  const nearest = findNearest(word, rests(prefix));
  return nearest === undefined ? undefined : `${prefix}${nearest}`;
}

function isSet(name: string, environment: Environment): boolean {
  const text = environment[name] ?? "";
  return text !== "" && !(name.endsWith("_PORT") && serviceAddress.test(text));
}

/**
 * Matches variables that Kubernetes sets in every container for its services. A service named runnel gives
 * RUNNEL_PORT=tcp://10.0.0.1:8090 and RUNNEL_SERVICE_HOST, which are not meant as settings.
 */
const serviceAddress = /^(?:tcp|udp|sctp):\/\//;

function isServiceLink(name: string): boolean {
  return /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(
    name,
  );
}
