// The service as users run it: `runnel serve` of the built program in a process of its own, measured from its start to its
// readiness.

import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { HttpClient } from "../clients/http-client.ts";
import { type Child, startChild } from "./child.ts";
import { adminToken, benchClient, benchKey } from "./credentials.ts";
import type { Home } from "./home.ts";

export interface Service extends Child {
  /** host:port, as grpc-js wants it. */
  readonly target: string;
  /** Milliseconds from the start of the process to the first 200 of /readyz. */
  readonly readyMs: number;
}

export interface ServiceOptions {
  /** The path of the built program. */
  readonly program: string;
  readonly home: Home;
  /** The URL of the provider. Without one the service has only its demo model. */
  readonly providerUrl?: string;
  /** The processes that share the port; 1 when unset. */
  readonly processes?: number;
  /** How many runs a process works on at a time; 256 when unset. */
  readonly slots?: number;
  /** Whether it serves the console, which has to be built; false when unset. */
  readonly console?: boolean;
  /** Whether it keeps rows for a year, so that no sweep finds any; false when unset. */
  readonly keepsRows?: boolean;
  /** Where the process writes a CPU profile when it ends. */
  readonly profile?: { readonly directory: string; readonly name: string };
}

const readyPollMs = 2;
const readyTimeoutMs = 30_000;

export async function startService({
  program,
  home,
  providerUrl,
  processes = 1,
  slots = 256,
  console = false,
  keepsRows = false,
  profile,
}: ServiceOptions): Promise<Service> {
  const startedMs = performance.now();
  const child = await startChild({
    program: pathToFileURL(program),
    args: ["serve", "--no-config", "--port", "0"],
    nodeFlags: profile === undefined ? [] : profileFlags(profile),
    environment: {
      RUNNEL_SERVER_HOST: "127.0.0.1",
      RUNNEL_SERVER_PROCESSES: String(processes),
      RUNNEL_CONSOLE_ENABLED: String(console),
      RUNNEL_AUTH_API_KEYS: `${benchClient}=${benchKey}`,
      RUNNEL_AUTH_ADMIN_TOKEN: adminToken,
      RUNNEL_RATELIMIT_RPS: "0",
      RUNNEL_LOG_LEVEL: "warn",
      RUNNEL_SERVER_DRAIN_SECONDS: "1",
      RUNNEL_DATABASE_DIR: home.databaseDirectory,
      RUNNEL_SESSIONS_WORK_DIRS: "/",
      // The hosts of callers are processes of this machine.
      RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
      // The limits are off: the bench measures the cost of work, not of its refusal.
      RUNNEL_SESSIONS_MAX_CONCURRENT: "0",
      RUNNEL_FORUM_NONCES_PER_MINUTE: "0",
      RUNNEL_RUNS_SLOTS: String(slots),
      ...(keepsRows && { RUNNEL_SESSIONS_TTL_MINUTES: "525600", RUNNEL_RETENTION_DAYS: "365" }),
      ...(providerUrl === undefined
        ? { RUNNEL_DEFAULTS_MODEL: "demo" }
        : { RUNNEL_PROVIDERS_OPENAI_KEY: "bench", RUNNEL_PROVIDERS_OPENAI_BASE_URL: `${providerUrl}/v1` }),
    },
    announcement: /serves on (http:\/\/\S+)/,
  });
  try {
    await untilReady(child.url);
    return { ...child, target: new URL(child.url).host, readyMs: performance.now() - startedMs };
  } catch (error) {
    await child.end("SIGKILL");
    throw error;
  }
}

async function untilReady(url: string): Promise<void> {
  using client = new HttpClient(url);
  const startedMs = performance.now();
  for (;;) {
    const { status } = await client.send("GET", "/readyz");
    if (status === 200) {
      return;
    }
    if (performance.now() - startedMs > readyTimeoutMs) {
      throw new Error(`/readyz still answers ${status}`);
    }
    await delay(readyPollMs);
  }
}

function profileFlags({ directory, name }: { directory: string; name: string }): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${directory}`, `--cpu-prof-name=${name}.cpuprofile`];
}
