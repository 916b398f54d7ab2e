// `runnel serve`: the service in the foreground, set up by its environment.

import type { Command } from "commander";
import { type App, type AppOptions, openApp } from "../app.ts";
import { type Config, keys } from "../config/keys.ts";
import { loadConfig } from "../config/load.ts";
import { createLogger } from "../telemetry/logger.ts";
import { readPort } from "./arguments.ts";

/** What a shell reports of a program that was interrupted. */
const exitInterrupted = 130;

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
      await startServer({
        config,
        logger: createLogger(config.logLevel),
        onProgress: (message) => console.error(message),
        announce: ({ host, port }) => console.error(`runnel serves on http://${host}:${port} (${openDoor})`),
      });
    });
}

/** Until callers can prove who they are, whoever reaches the port may call. */
export const openDoor = "no authentication yet: anyone who reaches this address may call";

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
  await signalled;
  await app.close();
}

/** Resolves at the first signal; a second one ends the process at once, whatever it is doing. */
function untilSignalled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signalled = false;
  const onSignal = (): void => {
    if (signalled) {
      process.exit(exitInterrupted);
    }
    signalled = true;
    resolve();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return promise;
}
