// The service of one command, in its own process: on a loopback port, with a key that only this command has, and with its
// database in a folder of the exchange. A command in another terminal has its own service and shares the database.

import { join } from "node:path";
import { type AppOptions, openApp } from "../../app/app.ts";
import { settings } from "../../app/settings.ts";
import { newNonce } from "../../platform/base/ids.ts";
import type { Config } from "../../platform/config/keys.ts";
import { type ConfigSources, readConfig } from "../../platform/config/load.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import { linesForPrograms } from "../log-lines.ts";

/** The service of one command. */
export interface LocalService extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
}

/** Opens the service; `root` is the folder of the exchange. */
export async function openLocalService(
  root: string,
  options: Pick<AppOptions, "onProgress" | "signal">,
): Promise<LocalService> {
  const apiKey = newNonce();
  const sources = localSources(root);
  const config = readLocalConfig(sources, root, apiKey);
  const app = await openApp({ config, sources, logger: createLogger(config.logLevel, linesForPrograms()), ...options });
  return { url: `http://${app.host}:${app.port}`, apiKey, [Symbol.asyncDispose]: () => app.close() };
}

/** The client of every command, so that each finds the exchanges of the others. */
const client = "local";

/** Returns the sources of the settings. The environment counts here too; settings files are for services that others call. */
function localSources(root: string): ConfigSources {
  const defaults = { logLevel: "error" } as const;
  return { table: settings, environment: process.env, directory: root, home: "", file: false, defaults };
}

function readLocalConfig(sources: ConfigSources, root: string, apiKey: string): Config {
  return {
    ...readConfig(sources),
    ...longestTimes,
    serverHost: "127.0.0.1",
    serverPort: 0,
    serverH2Port: undefined,
    serverDrainSeconds: 1,
    tlsCertFile: "",
    tlsKeyFile: "",
    tlsClientCaFile: "",
    metricsPort: undefined,
    rateLimitRps: 0,
    authHmacSecret: "",
    authHmacSecretPrevious: "",
    authAdminToken: "",
    authApiKeys: [{ client, key: apiKey }],
    databaseUrl: "",
    databaseDir: join(root, ".runnel"),
    sessionsWorkDirs: ["/"],
  };
}

/** The maximum of each time limit, so that nothing expires while a person is away. */
const longestTimes = {
  sessionsTtlMinutes: 525_600,
  retentionDays: 3_650,
  exchangesTimeoutHours: 87_576,
} as const;
