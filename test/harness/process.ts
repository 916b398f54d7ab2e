// The service in a process of its own, as users run it: tests kill, stop and continue it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { onTestFailed, onTestFinished } from "vitest";
import { authEnvironment } from "./credentials.ts";
import { compileCacheEnvironment, programPath } from "./program.ts";
import { until } from "./wait.ts";

/** A start takes a second; on a machine under load it takes much longer. */
const startMaxMs = 60_000;
/** So much of the end of its log is shown when the test fails. */
const shownCharsMax = 20_000;
const wrongClock = new URL("wrong-clock.ts", import.meta.url).href;
const collectSigned = new URL("collect-signed.ts", import.meta.url).href;

export interface ServiceProcess {
  readonly url: string;
  readonly target: string;
  readonly pid: number;
  /** Returns everything that was written to standard error. */
  readonly log: () => string;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops reading its standard error until the returned function is called. */
  holdLog(): () => void;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** The settings of a service that a test starts beside others, unless the test has its own. */
export const processSettings = {
  ...authEnvironment,
  RUNNEL_RATELIMIT_RPS: "0",
  RUNNEL_RATELIMIT_FAILURES_RPS: "0",
  RUNNEL_SERVER_HOST: "127.0.0.1",
  RUNNEL_SERVER_PROCESSES: "1",
  RUNNEL_SERVER_DRAIN_SECONDS: "1",
  RUNNEL_DATABASE_POOL_SIZE: "4",
  RUNNEL_RUNS_LEASE_MS: "1000",
  RUNNEL_SESSIONS_WORK_DIRS: "/",
  RUNNEL_DEFAULTS_MODEL: "demo",
  RUNNEL_PROVIDERS_RETRY_BASE_MS: "10",
} as const;

/** Returns the environment of a process whose wall clock is ahead by this many minutes, or behind. */
export function environmentOfWrongClock(minutes: number): Record<string, string> {
  return { NODE_OPTIONS: `--import "${wrongClock}?minutes=${minutes}"` };
}

/**
 * Starts `runnel serve`, which knows the clients of the tests. It is killed with the test if it still runs then. Its standard
 * error goes to us, or into `logFile`.
 */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
  { logFile }: { readonly logFile?: string } = {},
): Promise<ServiceProcess> {
  // A settings file in some folder of this machine must not affect the tests. A port of 0 is only possible on the command line.
  const freePort = environment.RUNNEL_SERVER_PORT === undefined ? ["--port", "0"] : [];
  const logTo = logFile === undefined ? undefined : openSync(logFile, "a");
  const child = spawn(process.execPath, [programPath, "serve", "--no-config", ...freePort], {
    stdio: ["ignore", "ignore", logTo ?? "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...compileCacheEnvironment,
      ...processSettings,
      ...environment,
      ...collecting(environment),
    },
  });
  if (logTo !== undefined) {
    closeSync(logTo);
  }
  let text = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const log = (): string => (logFile === undefined ? text : readFileSync(logFile, "utf8"));
  onTestFailed(() => void process.stderr.write(log().slice(-shownCharsMax)));
  onTestFinished(() => end(child, "SIGKILL"));
  const findUrl = (): string | undefined => {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the service ended with ${child.exitCode ?? child.signalCode}:\n${log()}`);
    }
    return /serves on (http:\/\/\S+)/.exec(log())?.[1];
  };
  const url = await until("the service to serve", findUrl, startMaxMs);
  return {
    url,
    target: new URL(url).host,
    pid: child.pid ?? 0,
    log,
    holdLog: () => {
      child.stderr?.pause();
      return () => child.stderr?.resume();
    },
    signal: (signal) => child.kill(signal),
    kill: () => end(child, "SIGKILL"),
    stop: async () => {
      await end(child, "SIGTERM");
      return child.exitCode;
    },
  };
}

/** Returns the variables with which a process adds to the file of signed requests, if this run has one. */
function collecting({ NODE_OPTIONS: options = "" }: Readonly<Record<string, string>>): Record<string, string> {
  const { TEST_SIGNED_FILE: file } = process.env;
  return file === undefined ? {} : { TEST_SIGNED_FILE: file, NODE_OPTIONS: `${options} --import "${collectSigned}"` };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}
