// Node programs that a bench starts. Each is ended by its own process id only.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** The URL in the line with which the program announced itself. */
  readonly url: string;
  /** Sends the signal and resolves when the process is gone. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface ChildOptions {
  readonly program: URL;
  readonly args?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Matches the announcing line on standard error; its first group is the URL. */
  readonly announcement: RegExp;
}

/** A first start unpacks Postgres and creates a cluster, which takes seconds on a busy machine. */
const announceTimeoutMs = 60_000;
/** A stop drains for a second and waits for a checkpoint of Postgres. */
const endTimeoutMs = 60_000;

/** Resolves when the program has announced itself. Rejects with its output when it ends before. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { program, args = [], nodeFlags = [], environment = {}, announcement } = options;
  const child = spawn(process.execPath, [...nodeFlags, fileURLToPath(program), ...args], {
    stdio: ["pipe", "ignore", "pipe"],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });
  const end = (signal: NodeJS.Signals): Promise<void> => endChild(child, signal);
  try {
    const url = await readAnnouncement(child, announcement);
    return { pid: child.pid ?? 0, url, end, [Symbol.asyncDispose]: () => end("SIGTERM") };
  } catch (error) {
    await end("SIGKILL");
    throw error;
  }
}

function readAnnouncement(child: ChildProcess, announcement: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const fail = (why: string): void => reject(new Error(`a program of the bench ${why}:\n${said}`));
    const timer = setTimeout(() => fail("did not announce itself in time"), announceTimeoutMs);
    child.once("error", reject);
    child.once("exit", (code, signal) => fail(`ended with ${code ?? signal}`));
    child.stderr?.on("data", (chunk: Buffer) => {
      // Read without end, because the program would block on a full pipe. The text is kept only until the announcement.
      if (announcement.test(said)) {
        return;
      }
      said += chunk.toString();
      const url = announcement.exec(said)?.[1];
      if (url === undefined) {
        return;
      }
      clearTimeout(timer);
      resolve(url);
    });
  });
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exited = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), endTimeoutMs);
  await exited;
  clearTimeout(timer);
}
