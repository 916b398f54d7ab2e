// `runnel serve`: runs the service in the foreground, configured by a file, its environment and its options.

import cluster from "node:cluster";
import type { Command } from "commander";
import type { App, AppOptions } from "../app/app.ts";
import type { Address } from "../app/open-ports.ts";
import { announceToPrimary, processesOf, Workers } from "../app/workers.ts";
import { unlessAborted } from "../platform/base/on-abort.ts";
import { leavePrimary } from "../platform/base/worker-process.ts";
import { type Config, keys } from "../platform/config/keys.ts";
import { type ConfigSources, readServeConfig } from "../platform/config/load.ts";
import { createEvents } from "../platform/telemetry/events.ts";
import { createLogger } from "../platform/telemetry/logger.ts";
import { readPort } from "./arguments.ts";
import { example } from "./example.ts";
import { exitCodes } from "./exit-codes.ts";
import { findHome } from "./home.ts";
import { listenForStop, type StopRequest } from "./interrupt.ts";
import { linesForPrograms } from "./log-lines.ts";
import { sayLine } from "./terminal.ts";

/** The maximum notice before a drain: load balancers ask for readiness every few seconds. */
const noticeMsMax = 5_000;
/**
 * The maximum time after the drain, in which the service writes to the database that it ends: a statement or two. A container's
 * engine kills soon after. Several parts wait in turn for a database that does not answer, which took half a minute.
 */
const goodbyeMsMax = 10_000;
/** The time after which the primary kills a worker that should have ended by itself. */
const lastWorkerMs = 5_000;

/** The flags of every command that reads the settings. */
export interface SettingsFlags {
  /** False for `--no-config`. */
  readonly config?: string | false;
  readonly set?: readonly string[];
}

/** The flags of commands that run or examine a server. */
export interface ServerFlags extends SettingsFlags {
  readonly host?: string;
  readonly port?: number;
}

/** Defines `serve`. */
export function defineServe(command: Command): void {
  addServerOptions(command)
    .addHelpText("after", example("runnel serve --config /etc/runnel/config.yaml --port 8090"))
    .action(async (flags: ServerFlags) => {
      const sources = await serverSources(flags);
      const config = readServeConfig(sources, { onWarning: sayLine });
      const logger = createLogger(config.logLevel, linesForPrograms());
      const announce = (address: Address): void => sayLine(`runnel serves on ${showAddress(address, config)}`);
      const count = processesOf(config);
      if (cluster.isPrimary && count > 1) {
        await startWorkers({ count, config, logger, announce });
        return;
      }
      const { isWorker } = cluster;
      await startServer({
        config,
        sources,
        logger,
        onProgress: sayLine,
        isWorker,
        announce: isWorker ? announceToPrimary : announce,
      });
    });
}

function showAddress({ host, port, h2Port }: Address, config: Config): string {
  const scheme = config.tlsCertFile === "" ? "http" : "https";
  return `${scheme}://${host}:${port}${h2Port === undefined ? "" : ` and, for HTTP/2, ${scheme}://${host}:${h2Port}`}`;
}

/** Adds the options of every command that reads the settings; `settingsSources` reads them. */
export function addSettingsOptions(command: Command): Command {
  return command
    .option("--config <file>", "YAML file of settings, instead of ./config.yaml")
    .option("--no-config", "read no file of settings")
    .option("--set <key=value>", "set any key of the file; may be repeated", collect);
}

/** Returns the sources of the settings. */
export async function settingsSources({ config, set }: SettingsFlags): Promise<ConfigSources> {
  // Loaded only here: the settings of protocols come with the protocols, which most commands do not need.
  const { settings: table } = await import("../app/settings.ts");
  return { table, environment: process.env, directory: process.cwd(), home: findHome(), file: config, settings: set };
}

/** Adds the options of commands that run or examine a server. */
export function addServerOptions(command: Command): Command {
  return addSettingsOptions(command)
    .option("--host <address>", keys.serverHost.about)
    .option("--port <number>", "port to listen on; 0 picks a free one", readPort);
}

/** Returns the sources of the settings, including the flags for host and port. */
export async function serverSources({ host, port, ...flags }: ServerFlags): Promise<ConfigSources> {
  const said = { ...(host !== undefined && { serverHost: host }), ...(port !== undefined && { serverPort: port }) };
  return { ...(await settingsSources(flags)), flags: said };
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A server and its announcements. */
export interface ServerCommand extends Omit<AppOptions, "signal"> {
  /** Prints the address of the service, once it serves. */
  readonly announce: (app: App) => void;
  /** Prints that the stop has begun. */
  readonly onStop?: () => void;
  /** Resolves with the server that takes the place of this one. Unset means none does. */
  readonly next?: (app: App) => Promise<ServerCommand>;
}

interface PrimaryCommand extends Pick<AppOptions, "config" | "logger"> {
  readonly count: number;
  readonly announce: (address: Address) => void;
}

/** Runs worker processes until a signal, which it passes on to them. */
async function startWorkers({ count, config, logger, announce }: PrimaryCommand): Promise<void> {
  const stop = listenForStop();
  // Loaded only here, as the server below.
  const [{ createSummedMetrics }, { openMetricsPort }] = await Promise.all([
    import("../platform/telemetry/metrics.ts"),
    import("../app/open-ports.ts"),
  ]);
  const events = createEvents(logger);
  const workers = new Workers({ count, events });
  await using closers = new AsyncDisposableStack();
  const metricsPort = await openMetricsPort(config, createSummedMetrics(), closers);
  events.primaryStarted({ processes: count, metricsPort });
  const opened = await Promise.race([workers.open(), stop.asked]);
  if (typeof opened === "number") {
    process.exitCode = opened;
    return;
  }
  if (typeof opened === "object") {
    announce(opened);
  }
  process.exitCode = await workers.close(await stop.asked, stopMsMax(config) + lastWorkerMs);
}

/** Runs until a signal. The first one drains, with a time limit; a second decision ends the process at once. */
export async function startServer(first: ServerCommand): Promise<void> {
  const stop = listenForStop();
  try {
    for (let command: ServerCommand | undefined = first; command !== undefined; ) {
      command = await runServer(command, stop);
    }
  } finally {
    leavePrimary();
  }
}

/** Runs a server until a signal, or until there is another one in its place, which it returns. */
async function runServer(
  { announce, onStop, next, ...options }: ServerCommand,
  stop: StopRequest,
): Promise<ServerCommand | undefined> {
  const app = await unlessAborted(stop.signal, async () => {
    // Loaded only here, because loading the server takes longer than most commands.
    const { openApp } = await import("../app/app.ts");
    return await openApp({ ...options, signal: stop.signal });
  });
  if (app === undefined) {
    return undefined;
  }
  if (!stop.signal.aborted) {
    announce(app);
  }
  const outcome = await Promise.race([stop.asked, ...(next === undefined ? [] : [next(app)])]);
  if (typeof outcome === "object") {
    await app.close();
    return outcome;
  }
  onStop?.();
  endInTime(options.config);
  await app.close({ noticeMs: outcome === "SIGTERM" ? noticeOf(options.config) : 0 });
  return undefined;
}

/** Returns the maximum time from `SIGTERM` to the end. */
export function stopMsMax(config: Config): number {
  return noticeOf(config) + config.serverDrainSeconds * 1_000 + goodbyeMsMax;
}

function endInTime(config: Config): void {
  if (config.databaseUrl === "") {
    // This process has to stop the embedded Postgres, so it is not ended early.
    return;
  }
  const overdue = setTimeout(() => {
    sayLine(
      "runnel: the end of this replica could not be written to the database; other replicas take over when its lease expires",
    );
    process.exit(exitCodes.failed);
  }, stopMsMax(config));
  overdue.unref();
}

/**
 * Returns the notice before a drain. The sender of SIGTERM also routes calls here and needs a moment to stop; Ctrl-C does not.
 */
function noticeOf({ serverDrainSeconds }: Config): number {
  return Math.min(noticeMsMax, (serverDrainSeconds * 1_000) / 5);
}
