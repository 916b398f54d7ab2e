// Parses the `--set key=value` options.

import type { KeyTable } from "./keys.ts";
import type { Problem } from "./problem.ts";
import { fileVariables } from "./variables.ts";
import { findMeantKey } from "./yaml.ts";

/** The parsed options. */
export interface Statements {
  /** By the key's path; the last of several counts. An empty text resets a key to its default. */
  readonly texts: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

/** Parses the options. Problems are returned, never thrown. */
export function readStatements(statements: readonly string[], keys: KeyTable): Statements {
  const texts = new Map<string, string>();
  const problems: Problem[] = [];
  for (const statement of statements) {
    const equals = statement.indexOf("=");
    const path = statement.slice(0, Math.max(equals, 0)).trim();
    const problem = refuse(path, keys);
    if (problem === undefined) {
      texts.set(path, statement.slice(equals + 1));
    } else {
      problems.push({ field: "--set", text: problem });
    }
  }
  return { texts, problems };
}

/** Returns why `path` cannot be set here. Never reveals the value, which may be a secret under a wrong name. */
function refuse(path: string, keys: KeyTable): string | undefined {
  const key = Object.values(keys).find((each) => each.path === path);
  // All keys contain a dot. A text without one may be anything, even a secret that ends with =.
  if (!/^\w+(?:\.\w+)+$/.test(path)) {
    return "--set takes section.key=value, such as server.port=8090";
  }
  if (key === undefined) {
    const meant = findMeantKey(path, keys);
    const fix = meant === undefined ? "`runnel config explain` lists all keys" : `did you mean ${meant}?`;
    return `--set: unknown key ${path}: ${fix}`;
  }
  if (key.secret === true) {
    const variables = [key.variables[0], ...fileVariables(key).slice(0, 1)].join(" or ");
    return `--set ${path}: arguments are seen by everybody on this machine: set ${variables} instead`;
  }
  return undefined;
}
