// What `--set key=value` says, by key.

import type { KeyTable } from "./keys.ts";
import type { Problem } from "./problem.ts";
import { fileVariables } from "./variables.ts";
import { findMeantKey } from "./yaml.ts";

export interface Statements {
  /** By the key's path; the last of several counts. An empty text is the way back to the default. */
  readonly texts: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

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

/** Why `path` cannot be set here. Nothing is told of the value, which may be a secret under a wrong name. */
function refuse(path: string, keys: KeyTable): string | undefined {
  const key = Object.values(keys).find((each) => each.path === path);
  // All keys have a point. What has none may be anything, a secret that ends with = for one.
  if (!/^\w+(?:\.\w+)+$/.test(path)) {
    return "--set takes key=value, such as server.port=8090";
  }
  if (key === undefined) {
    const meant = findMeantKey(path, keys);
    const fix = meant === undefined ? "`runnel config explain` lists those there are" : `did you mean ${meant}?`;
    return `--set: unknown key ${path}: ${fix}`;
  }
  if (key.secret === true) {
    const variables = [key.variables[0], ...fileVariables(key).slice(0, 1)].join(" or ");
    return `--set ${path}: arguments are seen by everybody on this machine: set ${variables} instead`;
  }
  return undefined;
}
