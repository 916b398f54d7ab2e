// A deployment in the terms that all ways of deploying share: the time for a stop, the variables, the mounted secrets, and the
// address.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { loadConfig, settings } from "../../src/app/settings.ts";
import { stopMsMax } from "../../src/cli/serve.ts";
import { keys } from "../../src/platform/config/keys.ts";
import { fileVariables } from "../../src/platform/config/variables.ts";

export function readText(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

export interface ComposeService {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly (string | { readonly type: string; readonly target: string })[];
  readonly tmpfs?: readonly string[];
  readonly read_only?: boolean;
  readonly user?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets?: Readonly<Record<string, { readonly file?: string; readonly external?: boolean }>>;
}

export const composePath = "compose.yaml";
export const jailOverlayPath = "deploy/compose/compose.jail.yaml";
export const stackPath = "deploy/swarm/docker-stack.yml";

export function readCompose(path: string): ComposeFile {
  return parse(readText(path)) as ComposeFile;
}

export function serviceOf({ services }: ComposeFile, name = "runnel"): ComposeService {
  const service = services[name];
  if (service === undefined) {
    throw new Error(`no service ${name}`);
  }
  return service;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name: string };
}

export function readManifests(path: string): Manifest[] {
  return parseAllDocuments(readText(path)).map((document) => {
    if (document.errors.length > 0) {
      throw new Error(`${path}: ${document.errors.join("; ")}`);
    }
    return document.toJS() as Manifest;
  });
}

/** Returns the maximum number of seconds that a stop takes. */
export function stopSecondsOf(environment: Readonly<Record<string, string>>): number {
  const { variables } = keys.serverDrainSeconds;
  const own = Object.fromEntries(variables.map((name) => [name, environment[name] ?? ""]));
  return stopMsMax(loadConfig(own)) / 1_000;
}

export function secondsOf(duration: string | undefined): number {
  const [, seconds] = /^(\d+)s$/.exec(duration ?? "") ?? [];
  if (seconds === undefined) {
    throw new Error(`${duration} is no number of seconds`);
  }
  return Number(seconds);
}

const everyKey = Object.values(settings.keys);

/** Returns the names that have our prefixes but are no setting. */
export function unknownVariables(names: readonly string[]): string[] {
  const known = new Set(everyKey.flatMap((key) => [...key.variables, ...fileVariables(key)]));
  return names.filter((name) => !known.has(name));
}

/** Returns the variables that would contain a secret itself. */
export function secretVariables(names: readonly string[]): string[] {
  const secrets = new Set(everyKey.filter(({ secret }) => secret === true).flatMap(({ variables }) => variables));
  return names.filter((name) => secrets.has(name));
}

export const servedPort: number = keys.serverPort.fallback;
