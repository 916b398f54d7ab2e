// The version before the newest migration, taken from the repository's history: it runs beside the new one during a
// rollout.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { authEnvironment } from "../harness/credentials.ts";
import { emptyDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { until } from "../harness/wait.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const archiveBytesMax = 256 * 1_048_576;

/** A process of one of the versions. */
export interface Peer {
  readonly client: GrpcClient;
  readonly log: () => string;
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves when the process has ended. */
  stop(): Promise<void>;
}

export interface TwoVersions {
  readonly databaseUrl: string;
  readonly previous: Peer;
  readonly current: Peer;
}

/** Both versions on one database, in the order of a rollout: the new one finds the schema and the work of the old one. */
export async function startBoth(): Promise<TwoVersions> {
  const databaseUrl = await emptyDatabase();
  const workRoot = mkdtempSync(join(tmpdir(), "runnel-work-"));
  onTestFinished(() => rm(workRoot, { recursive: true }));
  const environment = {
    RUNNEL_DATABASE_URL: databaseUrl,
    RUNNEL_SESSIONS_WORK_ROOT: workRoot,
  };
  const previous = await startPrevious(environment);
  return { databaseUrl, previous, current: await startCurrent(environment) };
}

export async function startCurrent(environment: Readonly<Record<string, string>>): Promise<Peer> {
  const { target, log, kill, stop } = await startProcess(environment);
  return { client: new GrpcClient(target), log, kill, stop: async () => void (await stop()) };
}

/** Returns false in a shallow clone, which does not hold the previous version. */
export function hasHistory(): boolean {
  return git("rev-parse", "--is-shallow-repository").trim() === "false";
}

/** The commit before the newest migration was added, or the last commit while that migration is not committed. */
function previousCommit(): string {
  const newest = readdirSync(join(root, "migrations"))
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .at(-1);
  const added = git("log", "--diff-filter=A", "--format=%H", "--", `migrations/${newest}`).trim();
  return git("rev-parse", "--verify", added === "" ? "HEAD" : `${added.split("\n")[0]}^`).trim();
}

function git(...args: readonly string[]): string {
  return runGit(args).toString();
}

function runGit(args: readonly string[]): Buffer {
  try {
    return execFileSync("git", ["-C", root, ...args], {
      maxBuffer: archiveBytesMax,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    const fix = "this test needs git and the whole history: clone without --depth, or `git fetch --unshallow`";
    throw new Error(`the previous version cannot be found: ${fix}\n${why}`);
  }
}

/**
 * A folder with the source of that version. It runs with today's packages; a package that only that version needs stays
 * among the dev dependencies until the next migration: now `@ai-sdk/*`.
 */
export function extractPrevious(): string {
  const folder = mkdtempSync(join(tmpdir(), "runnel-previous-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const input = runGit(["archive", "--format=tar", previousCommit(), "src", "gen", "migrations", "package.json"]);
  execFileSync("tar", ["-x", "-C", folder], { input });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  if (!existsSync(join(folder, "src", "main.ts"))) {
    throw new Error(`commit ${previousCommit()} has no src/main.ts`);
  }
  return folder;
}

export async function startPrevious(
  environment: Readonly<Record<string, string>>,
  folder = extractPrevious(),
): Promise<Peer> {
  const main = join(folder, "src", "main.ts");
  const child = spawn(process.execPath, [main, "serve", "--no-config", "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...authEnvironment,
      RUNNEL_SERVER_HOST: "127.0.0.1",
      RUNNEL_SERVER_DRAIN_SECONDS: "1",
      RUNNEL_DATABASE_POOL_SIZE: "4",
      RUNNEL_RUNS_LEASE_MS: "1000",
      RUNNEL_DEFAULTS_MODEL: "demo",
      ...environment,
    },
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const exited = once(child, "exit");
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const kill = (): Promise<void> => end("SIGKILL");
  onTestFinished(kill);
  const url = await until("the previous version to serve", () => {
    if (child.exitCode !== null) {
      throw new Error(`the previous version ended with ${child.exitCode}:\n${text}`);
    }
    return /serves on (http:\/\/\S+)/.exec(text)?.[1];
  });
  return { client: new GrpcClient(new URL(url).host), log: () => text, kill, stop: () => end("SIGTERM") };
}
