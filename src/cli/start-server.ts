// Runs the service in the foreground until a signal: the first one drains, a second one ends the process at once.

import { once } from "node:events";
import { type App, type AppOptions, openApp } from "../app.ts";

export interface ServerCommand extends AppOptions {
  /** Says where the service is, once it serves. */
  readonly announce: (app: App) => void;
}

export async function startServer({ announce, ...options }: ServerCommand): Promise<void> {
  const signalled = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const app = await openApp(options);
  announce(app);
  await signalled;
  const force = (): never => process.exit(130);
  process.once("SIGINT", force);
  process.once("SIGTERM", force);
  await app.close();
}
