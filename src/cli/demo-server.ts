// A service in its own process, so that the demo can kill it with -9.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemClock } from "../platform/base/clock.ts";
import { beforeForcedEnd } from "../platform/base/forced-end.ts";

const readyTimeoutMs = 60_000;
const readyPollMs = 50;
const stopTimeoutMs = 15_000;

/** The running service of the demo. */
export interface DemoServer {
  readonly url: string;
  readonly pid: number;
  /** Kills with -9: no warning, no clean-up. */
  kill(): Promise<void>;
  /** Sends SIGTERM: drains, and stops Postgres if this is the last service. */
  stop(): Promise<void>;
}

/** Options of the service. */
export interface DemoServerOptions {
  /** The home and working directory of the service. No file in the caller's folders configures it. */
  readonly home: string;
  readonly directory: string;
  readonly port: number;
  /** Called with each line that the service prints while it starts. */
  readonly onProgress: (line: string) => void;
  /** Ends the wait for the service, and the service. */
  readonly signal?: AbortSignal;
}

/** Starts the service and waits until it is ready. Throws an Error when it ends early or is not ready within 60 s. */
export async function startDemoServer(options: DemoServerOptions): Promise<DemoServer> {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "dev", "--port", String(options.port)], {
    stdio: ["ignore", "ignore", "pipe"],
    // Ctrl-C goes to all processes of the terminal's group; the demo stops this one itself, in order.
    detached: true,
    cwd: options.home,
    env: {
      ...withoutSettings(process.env),
      HOME: options.home,
      RUNNEL_DATABASE_DIR: options.directory,
      RUNNEL_DEFAULTS_MODEL: "demo",
      RUNNEL_RUNS_LEASE_MS: "1500",
      RUNNEL_SERVER_DRAIN_SECONDS: "2",
      RUNNEL_LOG_LEVEL: "error",
    },
  });
  const url = `http://127.0.0.1:${options.port}`;
  const complaints: string[] = [];
  createInterface(child.stderr).on("line", (line) => {
    complaints.push(line);
    // The rest is the banner of `dev`, which is for interactive use.
    if (line === "" || complaints.some((each) => each.includes(url))) {
      return;
    }
    options.onProgress(line);
  });
  const guard = beforeForcedEnd(() => end(child, "SIGTERM"));
  child.once("exit", () => guard[Symbol.dispose]());
  await untilReady(url, child, { complaints, ...options });
  return {
    url,
    pid: child.pid ?? 0,
    kill: () => end(child, "SIGKILL"),
    stop: () => end(child, "SIGTERM"),
  };
}

/** Removes the user's settings: the demo runs without a database, key or credential of the user, the same on every machine. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(?:(?:RUNNEL|AGENT_RUNNER)_|DATABASE_URL$)/.test(name)),
  );
}

interface Waiting {
  readonly complaints: readonly string[];
  readonly signal?: AbortSignal;
}

async function untilReady(url: string, child: ChildProcess, { complaints, signal }: Waiting): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  while (systemClock.monotonicMs() - startedMs < readyTimeoutMs) {
    if (signal?.aborted) {
      await end(child, "SIGTERM");
      signal.throwIfAborted();
    }
    if (child.exitCode !== null) {
      throw new Error(`the service did not start:\n${complaints.join("\n")}`);
    }
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) {
      return;
    }
    await systemClock.sleep(readyPollMs);
  }
  child.kill("SIGKILL");
  throw new Error(`the service was not ready after ${readyTimeoutMs / 1_000} s:\n${complaints.join("\n")}`);
}

async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exited = once(child, "exit");
  child.kill(signal);
  const stopped = new AbortController();
  await Promise.race([exited, systemClock.sleep(stopTimeoutMs, stopped.signal)]);
  stopped.abort();
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
  }
}
