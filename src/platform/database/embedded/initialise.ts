// Creates the cluster on the first start. initdb works in a draft folder that becomes the data folder by one rename, so a
// killed initdb leaves garbage but never half a cluster. Call it under the cluster's lock.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createFolder } from "./account.ts";
import { type Cluster, childOptions, explainSpawnError } from "./cluster.ts";
import { embeddedFailure } from "./failure.ts";
import { userName } from "./login.ts";

/** Creates the cluster. Throws DATABASE_UNAVAILABLE when initdb fails. */
export async function initialiseCluster(cluster: Cluster): Promise<void> {
  await removeDrafts(cluster.home);
  const draft = join(cluster.home, draftPrefix + randomBytes(8).toString("hex"));
  const dataFolder = join(draft, "data");
  const passwordFile = join(draft, "password");
  createFolder(draft, cluster.account === undefined ? 0o700 : 0o711);
  mkdirSync(dataFolder, { mode: 0o700 });
  writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
  for (const path of [dataFolder, passwordFile]) {
    if (cluster.account !== undefined) {
      chownSync(path, cluster.account.uid, cluster.account.gid);
    }
  }
  await runInitdb(cluster, dataFolder, passwordFile);
  renameSync(dataFolder, cluster.dataFolder);
  syncFolder(cluster.home);
  await removeDrafts(cluster.home);
}

const draftPrefix = "new-";

/** An initdb whose parent was killed may still be writing; a few retries outlast it. */
async function removeDrafts(home: string): Promise<void> {
  for (const name of readdirSync(home)) {
    if (name.startsWith(draftPrefix)) {
      await rm(join(home, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  }
}

async function runInitdb(cluster: Cluster, dataFolder: string, passwordFile: string): Promise<void> {
  const program = cluster.binaries.initdb;
  const child = spawn(program, [...initdbArguments(dataFolder), `--pwfile=${passwordFile}`], {
    ...childOptions(cluster, dataFolder),
    // Ctrl-C in our terminal does not reach the child: this process decides when to stop it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(cluster.signal === undefined ? {} : { signal: cluster.signal }),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-outputCharactersMax);
    });
  }
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(explainSpawnError(error, program)));
    child.once("close", (code, killSignal) => {
      resolve(code === 0 ? undefined : `initdb could not create the database (${killSignal ?? `exit code ${code}`}).`);
    });
  });
  cluster.signal?.throwIfAborted();
  if (problem !== undefined) {
    throw embeddedFailure(problem, { tried: cluster.tried, output });
  }
}

/** initdb prints about 2 KB; an error is at the end. */
const outputCharactersMax = 16_384;

function initdbArguments(dataFolder: string): string[] {
  const settings = ["--no-locale", "--encoding=UTF8", "--auth=scram-sha-256", "--no-instructions"];
  return [`--pgdata=${dataFolder}`, `--username=${userName}`, ...settings];
}

/** Makes the rename durable: data acknowledged later must not vanish with the name of its folder. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") {
    return;
  }
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
