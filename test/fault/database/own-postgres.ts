// A Postgres for one test, which can be stopped, killed, frozen and started again.

import { execFile } from "node:child_process";
import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject, onTestFinished } from "vitest";
import { openEmbeddedPostgres } from "../../../src/platform/database/embedded/open.ts";
import { until } from "../../harness/wait.ts";
import { isAlive, readPid, signalFamily } from "./process-family.ts";

export interface OwnPostgres {
  /** Stays the same over restarts. */
  readonly url: string;
  /** The data directory. */
  readonly data: string;
  /** `fast` ends every connection and shuts down; `immediate` dies and recovers at the next start. */
  stop(how: "fast" | "immediate"): Promise<void>;
  /** False once the server has ended, by any cause. */
  isRunning(): boolean;
  start(): Promise<void>;
  /** Copies the data of this moment, as a standby has them that receives nothing from now on. */
  copyData(): Promise<void>;
  /** Kills the server and starts it with the copied data: what a promoted standby has. */
  promoteCopy(): Promise<void>;
  /** Stops the server and all its backends: connections stay open, and no answer comes. */
  freeze(): void;
  thaw(): void;
}

/** `home` is the folder of its data; the default is a folder of this test run. */
export async function openOwnPostgres(home?: string): Promise<OwnPostgres> {
  const folder = home ?? (await makeFolder());
  const directory = join(folder, "database");
  let server = await openEmbeddedPostgres({ directory });
  const pid = (): number | undefined => readPid(join(server.directory, "postgres"));
  const isRunning = (): boolean => isAlive(pid());
  const signal = (name: NodeJS.Signals): void => signalFamily(pid(), name);
  const start = async (): Promise<void> => {
    server = await openEmbeddedPostgres({ directory });
  };
  const data = (): string => join(server.directory, "postgres");
  const copy = (): string => join(server.directory, "copy");
  const stop = async (how: "fast" | "immediate"): Promise<void> => {
    const postmaster = pid();
    process.kill(postmaster ?? 0, how === "fast" ? "SIGINT" : "SIGQUIT");
    await until("Postgres to be gone", () => !isAlive(postmaster));
  };
  onTestFinished(async () => {
    if (isRunning()) {
      signal("SIGCONT");
    }
    await server.stop();
    await rm(home === undefined ? folder : directory, { recursive: true });
  });
  return {
    url: server.connectionString,
    data: data(),
    isRunning,
    start,
    stop,
    copyData: async () => {
      // No process writes meanwhile, so the copy is what a crash at this moment would leave.
      signal("SIGSTOP");
      await promisify(execFile)("cp", ["--archive", data(), copy()]);
      signal("SIGCONT");
    },
    promoteCopy: async () => {
      await stop("immediate");
      await rm(data(), { recursive: true });
      await rename(copy(), data());
      await rm(join(data(), "postmaster.pid"));
      await start();
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(inject("dataHome"), "own-"));
  // Started by root it runs under another account, which has to reach its data.
  await chmod(folder, 0o711);
  return folder;
}
