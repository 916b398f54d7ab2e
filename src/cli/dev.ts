// `runnel dev`: runs the service for development: on loopback, with a quiet log and a command to paste.

import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { readPresets } from "../api/presets.ts";
import { isWithin } from "../engine/sessions/within.ts";
import { Fault } from "../platform/base/fault.ts";
import { type Config, isAuthConfigured } from "../platform/config/keys.ts";
import { type ConfigSources, readConfig } from "../platform/config/load.ts";
import { createLogger } from "../platform/telemetry/logger.ts";
import type { LineStream } from "../platform/telemetry/standard-error.ts";
import { freshenConsole } from "./checkout-console.ts";
import { banner, urlOf } from "./dev/banner.ts";
import { openBrowser } from "./dev/open-browser.ts";
import { nextChange } from "./dev/watch.ts";
import { example } from "./example.ts";
import { explain } from "./failure.ts";
import { linesForPeople, linesForPrograms } from "./log-lines.ts";
import { outputOf } from "./output.ts";
import { addServerOptions, type ServerCommand, type ServerFlags, serverSources, startServer } from "./serve.ts";
import { sayLine } from "./terminal.ts";

const loopback = "127.0.0.1";
const loopbackHosts: ReadonlySet<string> = new Set([loopback, "::1", "localhost"]);

interface DevFlags extends ServerFlags {
  readonly agents?: string;
  readonly open?: true;
}

/** Defines `dev`. */
export function defineDev(command: Command): void {
  addServerOptions(command)
    .addHelpText("after", example("runnel dev --agents agents --open"))
    .option("--agents <directory>", "directory of agents in Markdown or YAML files, each a preset")
    .option("--open", "open the console in the browser")
    .action(async ({ agents, open, ...flags }: DevFlags) => {
      const output = outputOf(command);
      const sources = devSources(flags, await serverSources(flags));
      const lines = output.asJson ? linesForPrograms() : await linesOfDev();
      const read = await settingsReader(sources, agents);
      const { isAnyConfigured } = await import("../agent/models/providers.ts");
      const serve = async (settings: Config, { port }: { readonly port?: number } = {}): Promise<ServerCommand> => {
        const config = await withConsole({ ...settings, ...(port !== undefined && { serverPort: port }) });
        const isFirst = port === undefined;
        return {
          config,
          sources,
          workDir: usualWorkDir(config, sources),
          logger: createLogger(config.logLevel, lines),
          onProgress: sayLine,
          announce: (app) => {
            sayLine(isFirst ? banner(app, config, isAnyConfigured(config)) : `Runnel is ready again on ${urlOf(app)}`);
            if (isFirst && open === true) {
              openBrowser(`${urlOf(app)}${config.consoleEnabled ? "/console" : ""}`);
            }
          },
          onStop: () => output.note("stopping; Ctrl-C once more ends it at once"),
          next: async (app) => {
            const changed = await nextChange(foldersOf(sources, agents), () => readChanged(read, settings));
            sayLine("the settings have changed: Runnel restarts, and its runs go on");
            return await serve(changed, app);
          },
        };
      };
      await startServer(await serve(read(sayLine)));
    });
}

type ReadSettings = (onWarning: (warning: string) => void) => Config;

/** Returns how to read the settings, and the agents in files beside the presets of the settings. */
async function settingsReader(sources: ConfigSources, agents: string | undefined): Promise<ReadSettings> {
  if (agents === undefined) {
    return (onWarning) => readDevConfig(sources, onWarning);
  }
  // Loaded only here, with the settings.
  const { readAgentFiles } = await import("./dev/agent-files.ts");
  return (onWarning) => {
    const config = readDevConfig(sources, onWarning);
    const presets = config.agentPresets.length === 0 ? ["default={}"] : config.agentPresets;
    return { ...config, agentPresets: [...presets, ...readAgentFiles(agents)] };
  };
}

/** Returns the settings if they have changed. Prints their problems: the service then keeps those that it has. */
function readChanged(read: ReadSettings, before: Config): Config | undefined {
  try {
    const config = read(() => {});
    readPresets({ config, runners: [] });
    return JSON.stringify(config) === JSON.stringify(before) ? undefined : config;
  } catch (error) {
    sayLine(`the changed settings are not used. ${explain(error).error}`);
    return undefined;
  }
}

function foldersOf({ directory, file }: ConfigSources, agents: string | undefined): readonly string[] {
  const ofFile = typeof file === "string" ? [dirname(resolve(directory, file))] : file === false ? [] : [directory];
  return [...ofFile, ...(agents === undefined ? [] : [agents])];
}

/**
 * Returns the directory of sessions that name none: that of the command, for callers without credentials, who are the user of this
 * machine. The home directory has keys and passwords, so agents do not get it, or one around it.
 */
function usualWorkDir(config: Config, { directory, home }: ConfigSources): string | undefined {
  return isAuthConfigured(config) || (home !== "" && isWithin(home, directory)) ? undefined : directory;
}

async function linesOfDev(): Promise<LineStream> {
  // Loaded only here, with the settings, so that the help does not wait for the service.
  const { protocolEvents } = await import("../app/protocols.ts");
  return linesForPeople(protocolEvents);
}

/**
 * Returns the sources with the defaults of `dev`. The host is loopback, unless the command line sets another one. Callers on
 * this machine may name any directory, as the user of this machine may.
 */
function devSources(flags: ServerFlags, sources: ConfigSources): ConfigSources {
  const host = flags.host ?? flags.set?.findLast((each) => each.startsWith(setHost))?.slice(setHost.length);
  const isLocal = loopbackHosts.has(host ?? loopback);
  return {
    ...sources,
    flags: { ...sources.flags, ...(host === undefined && { serverHost: loopback }) },
    defaults: {
      ...sources.table.devDefaults,
      consoleEnabled: true,
      logLevel: "warn",
      serverDrainSeconds: 1,
      rateLimitRps: 0,
      ...(isLocal && { sessionsWorkDirs: ["/"] }),
    },
  };
}

const setHost = "server.host=";

/** Reads the settings. Another host than loopback needs credentials. */
function readDevConfig(sources: ConfigSources, onWarning: (warning: string) => void): Config {
  const config = readConfig(sources, { onWarning });
  if (!isAuthConfigured(config) && !loopbackHosts.has(config.serverHost)) {
    const fix = "set RUNNEL_AUTH_API_KEYS or another credential, or leave it on 127.0.0.1";
    throw new Fault(
      "CONFIG_INVALID",
      `any client that reaches ${config.serverHost} could call without credentials: ${fix}`,
    );
  }
  return config;
}

/** The service starts without a console that cannot be built. */
async function withConsole(config: Config): Promise<Config> {
  if (!config.consoleEnabled) {
    return config;
  }
  const problem = await freshenConsole(() => sayLine("building the console, once"));
  if (problem === undefined) {
    return config;
  }
  sayLine(`the console is off, because it could not be built: ${problem}`);
  return { ...config, consoleEnabled: false };
}
