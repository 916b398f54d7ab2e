// `runnel dev`: runs the service for development: on loopback, with a quiet log and a command to paste.

import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { Fault } from "../platform/base/fault.ts";
import { type Config, isAuthConfigured } from "../platform/config/keys.ts";
import { type ConfigSources, readConfig } from "../platform/config/load.ts";
import { createLogger } from "../platform/telemetry/logger.ts";
import type { LineStream } from "../platform/telemetry/standard-error.ts";
import { freshenConsole } from "./checkout-console.ts";
import { example } from "./example.ts";
import { linesForPeople, linesForPrograms } from "./log-lines.ts";
import { outputOf } from "./output.ts";
import { addServerOptions, type ServerFlags, serverSources, startServer } from "./serve.ts";
import { shellWord } from "./shell-word.ts";
import { sayLine } from "./terminal.ts";

const loopback = "127.0.0.1";
const loopbackHosts: ReadonlySet<string> = new Set([loopback, "::1", "localhost"]);

/** Defines `dev`. */
export function defineDev(command: Command): void {
  addServerOptions(command)
    .addHelpText("after", example("runnel dev --port 0"))
    .action(async (flags: ServerFlags) => {
      const output = outputOf(command);
      const sources = devSources(flags, await serverSources(flags));
      const config = await withConsole(readDevConfig(sources));
      const lines = output.asJson ? linesForPrograms() : await linesOfDev();
      const { isAnyConfigured } = await import("../agent/models/providers.ts");
      await startServer({
        config,
        sources,
        logger: createLogger(config.logLevel, lines),
        onProgress: sayLine,
        announce: (app) => sayLine(banner(app, config, isAnyConfigured(config))),
        onStop: () => output.note("stopping; Ctrl-C once more ends it at once"),
      });
    });
}

/**
 * Returns the sources with the defaults of `dev`. The host is loopback, unless the command line sets another one. Callers on
 * this machine may name any directory, as the user of this machine may.
 */
async function linesOfDev(): Promise<LineStream> {
  // Loaded only here, with the settings, so that the help does not wait for the service.
  const { protocolEvents } = await import("../app/protocols.ts");
  return linesForPeople(protocolEvents);
}

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
      ...(isLocal && { sessionsWorkDirs: ["/"] }),
    },
  };
}

const setHost = "server.host=";

/** Reads the settings. Another host than loopback needs credentials. */
function readDevConfig(sources: ConfigSources): Config {
  const config = readConfig(sources, { onWarning: sayLine });
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

function banner(app: App, config: Config, hasProvider: boolean): string {
  const url = `http://${app.host}:${app.port}`;
  const hint = hasProvider ? "" : " (set RUNNEL_PROVIDERS_OPENAI_KEY or another key for a real one)";
  const session = {
    // A checkout of the service itself is not a directory for agents: the session then gets its own.
    ...(app.workDirHere !== undefined && { work_dir: app.workDirHere }),
    agent: { name: "try", tools: { builtin: ["list_dir", "read_file"] } },
  };
  return [
    "",
    `Runnel is ready on ${url}`,
    "",
    "  serves   gRPC, gRPC-Web, Connect, REST and SSE; REST is described in /openapi.json",
    `  callers  ${app.asksForCredentials ? "need credentials" : "on this machine need no credentials"}`,
    `  model    ${app.defaultModel}${hint}`,
    `  bash     ${app.bash}`,
    `  data     ${app.databaseDirectory ?? "the database of DATABASE_URL"}`,
    ...(config.consoleEnabled ? [`  console  ${url}/console`] : []),
    "  stop     Ctrl-C",
    "",
    `Paste this into another terminal${app.asksForCredentials ? ", with credentials added" : ""}:`,
    "",
    // The service makes a new id each time, so the lines may be pasted again.
    `  id=$(curl -s ${url}/v1/sessions -d ${shellWord(JSON.stringify(session))} | ${readSessionId}) ; \\`,
    `  curl -s ${url}/v1/sessions/$id/messages -d ${shellWord(JSON.stringify({ message: firstMessage }))} ; \\`,
    `  curl -sN ${url}/v1/sessions/$id/stream`,
    "",
  ].join("\n");
}

/** Works in an empty directory too. */
const firstMessage = "Explore this directory: list its files, and read the README if there is one.";

/** Works in every POSIX shell, without a program that reads JSON. */
const readSessionId = String.raw`sed 's/.*"session_id":"\([^"]*\)".*/\1/'`;
