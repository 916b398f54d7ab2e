// `runnel serve`: the service in the foreground, set up by its environment.

import type { Command } from "commander";
import { type App, type AppOptions, openApp } from "../app.ts";
import { Fault } from "../base/fault.ts";
import { type Config, documentedWithoutEffect, isAuthConfigured, keys } from "../config/keys.ts";
import { loadConfig } from "../config/load.ts";
import { createLogger } from "../telemetry/logger.ts";
import { readPort } from "./arguments.ts";

/** What a shell reports of a program that was interrupted. */
const exitInterrupted = 130;
/** Load balancers ask for readiness every few seconds. */
const noticeMsMax = 5_000;

export interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
}

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the service, with settings from the environment")
    .option("--host <address>", keys.serverHost.about)
    .option("--port <number>", keys.serverPort.about, readPort)
    .action(async (flags: ServeFlags) => {
      const config = loadConfig(process.env, serverFlags(flags));
      assertAuthConfigured(config);
      for (const name of documentedWithoutEffect.filter((each) => (process.env[each] ?? "") !== "")) {
        console.error(`${name} is set, but has no effect in this version`);
      }
      await startServer({
        config,
        logger: createLogger(config.logLevel),
        onProgress: (message) => console.error(message),
        announce: ({ host, port, h2Port }) => {
          const scheme = config.tlsCertFile === "" ? "http" : "https";
          const more = h2Port === undefined ? "" : ` and, for HTTP/2, ${scheme}://${host}:${h2Port}`;
          console.error(`runnel serves on ${scheme}://${host}:${port}${more}`);
        },
      });
    });
}

/** A service that anybody could call is only for one's own machine, which is what `dev` is for. */
function assertAuthConfigured(config: Config): void {
  if (!isAuthConfigured(config)) {
    const fix = "set RUNNEL_AUTH_HMAC_SECRET, RUNNEL_AUTH_API_KEYS or RUNNEL_AUTH_ADMIN_TOKEN";
    throw new Fault("CONFIG_INVALID", `missing required config: auth.hmac_secret: ${fix}, or use \`runnel dev\``);
  }
}

export function serverFlags({ host, port }: ServeFlags): Partial<Config> {
  return { ...(host !== undefined && { serverHost: host }), ...(port !== undefined && { serverPort: port }) };
}

export interface ServerCommand extends AppOptions {
  /** Says where the service is, once it serves. */
  readonly announce: (app: App) => void;
}

/** Runs until a signal: the first one drains, a second one ends the process at once. */
export async function startServer({ announce, ...options }: ServerCommand): Promise<void> {
  const signalled = untilSignalled();
  const app = await openApp(options);
  announce(app);
  const signal = await signalled;
  await app.close({ noticeMs: signal === "SIGTERM" ? noticeOf(options.config) : 0 });
}

/** Who sends SIGTERM also routes calls here, and needs a moment to stop; a person at the keyboard does not. */
function noticeOf({ serverDrainSeconds }: Config): number {
  return Math.min(noticeMsMax, (serverDrainSeconds * 1_000) / 5);
}

/** Resolves at the first signal; a second one ends the process at once, whatever it is doing. */
function untilSignalled(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let signalled = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signalled) {
      process.exit(exitInterrupted);
    }
    signalled = true;
    resolve(signal);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return promise;
}
