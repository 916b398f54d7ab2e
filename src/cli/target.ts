// Decides which service a command calls, and with which key. A flag goes before the environment, the environment before the
// profile, and the profile before what the service on this machine has by default.
//
// A1  The key of a profile goes to the URL of that profile alone, so that no other server learns it.

import type { Command } from "commander";
import { readUrl } from "./arguments.ts";
import { CommandError } from "./command-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { defaultProfile, type Profile, profilesPath, readProfiles, unknownProfile } from "./profiles.ts";
import { shellWord } from "./shell-word.ts";

/** The flags of commands that call a service. */
export interface ServiceFlags {
  readonly url?: string;
  readonly profile?: string;
}

/** A service to call. */
export interface Target {
  readonly url: string;
  /** Empty without one. */
  readonly apiKey: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the flags `--url` and `--profile`. */
export function addServiceFlags(command: Command): Command {
  return command
    .option("--url <url>", "URL of the service; unset means RUNNEL_URL, the profile's, or this machine's", readUrl)
    .option(
      "--profile <name>",
      "profile of `runnel login`, before RUNNEL_URL and RUNNEL_API_KEY; unset means RUNNEL_PROFILE",
    );
}

/** Returns the service to call. Throws a `CommandError` for a profile that does not exist or cannot be read. */
export async function findTarget({ url, profile }: ServiceFlags, environment: Environment): Promise<Target> {
  // A profile that the command names goes before variables that may have been set long ago.
  const { RUNNEL_API_KEY: apiKey = "" } = profile === undefined ? environment : {};
  const wanted = url ?? (profile === undefined ? urlOf(environment) : undefined);
  if (wanted !== undefined && apiKey !== "") {
    return { url: wanted, apiKey };
  }
  const found = await findProfile(profile ?? nameOf(environment), environment);
  const chosen = wanted ?? found?.url ?? defaultUrl(environment);
  const isOwn = found !== undefined && new URL(found.url).href === new URL(chosen).href;
  return { url: chosen, apiKey: apiKey || (isOwn ? found.apiKey : "") };
}

/** Returns the profile that the environment names; undefined without one. */
export function nameOf({ RUNNEL_PROFILE: name = "" }: Environment): string | undefined {
  return name || undefined;
}

/** Returns the URL that the environment names; undefined without one. Throws a `CommandError` for another text. */
export function urlOf({ RUNNEL_URL: url = "" }: Environment): string | undefined {
  const protocol = URL.parse(url)?.protocol;
  if (url === "" || protocol === "http:" || protocol === "https:") {
    return url || undefined;
  }
  const what = `RUNNEL_URL is ${JSON.stringify(url)}: expected a URL such as http://127.0.0.1:8090`;
  throw new CommandError(what, {
    reason: "USAGE",
    fix: "set it to the service's URL",
    exitCode: exitCodes.invalidUsage,
  });
}

/** Returns the default address of the service: where `serve` and `dev` listen by default. */
export function defaultUrl(environment: Environment): string {
  const find = (name: string, otherwise: string): string =>
    environment[`RUNNEL_${name}`] || environment[`AGENT_RUNNER_${name}`] || otherwise;
  const host = find("SERVER_HOST", "127.0.0.1");
  return `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${find("SERVER_PORT", "8090")}`;
}

/** Returns a line to paste, with the flags that choose the service. */
export function lineFor({ url, profile }: ServiceFlags, line: string): string {
  const flags = { "--url": url, "--profile": profile };
  return Object.entries(flags).reduce(
    (text, [flag, value]) => (value === undefined ? text : `${text} ${flag} ${shellWord(value)}`),
    line,
  );
}

async function findProfile(name: string | undefined, environment: Environment): Promise<Profile | undefined> {
  const profiles = await readProfiles(profilesPath(environment));
  const found = profiles.get(name ?? defaultProfile);
  if (found === undefined && name !== undefined) {
    throw unknownProfile(profiles, name);
  }
  return found;
}
