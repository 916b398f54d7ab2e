// The entry point of the single-file binary that `scripts/binary.ts` makes: Node, with the files of the program as assets. It
// unpacks them once into a folder of the user's cache, and starts the program there.
//
// B1  The folder appears complete or not at all, also when several processes start at once or one is killed.
// B2  In the binary, process.execPath is the binary itself. A first argument that is a file of the folder is the script to run: so
//     do worker processes and the service of the demo start.

import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { getAssetKeys, getRawAsset } from "node:sea";
import { pathToFileURL } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import { systemClock } from "./platform/base/clock.ts";
import { tryLock } from "./platform/base/process-lock.ts";

const pollMs = 50;
/** Unpacking takes about a second; a slow disk needs longer. */
const pollsMax = 2_400;
const chooseAnother = "Set XDG_CACHE_HOME to a directory that belongs to you and has 100 MB of space.";

void start();

async function start(): Promise<void> {
  const folder = await unpackOnce().catch(refuse);
  const args = process.argv.slice(2);
  const isScript = args[0]?.startsWith(folder + sep) ?? false;
  const [script = "", ...rest] = isScript ? args : [join(folder, "dist/main.js"), ...args];
  process.argv = [process.execPath, script, ...rest];
  await import(pathToFileURL(script).href);
}

function refuse(error: unknown): never {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

/** Returns the folder of the program, without links: the program's files name each other by their real paths. */
async function unpackOnce(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "runnel");
  const folder = join(cache, readAsset("BUILD").toString());
  try {
    for (let polls = 0; !existsSync(folder); polls++) {
      if (polls === pollsMax) {
        throw new Error("another process has not finished it");
      }
      mkdirSync(cache, { recursive: true });
      using lock = tryLock(`${folder}.lock`);
      if (lock === undefined) {
        await systemClock.sleep(pollMs);
      } else if (!existsSync(folder)) {
        unpack(folder);
      }
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new Error(`runnel cannot unpack its files to ${folder}: ${reason}\n${chooseAnother}`, { cause });
  }
  checkOwner(folder);
  return realpathSync(folder);
}

/** Call it under the lock. A killed process may have left a draft. */
function unpack(folder: string): void {
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  for (const name of getAssetKeys()) {
    const file = join(draft, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, readAsset(name), { mode: name.includes("/bin/") ? 0o755 : 0o644 });
  }
  renameSync(draft, folder);
}

function readAsset(name: string): Buffer {
  return zstdDecompressSync(getRawAsset(name));
}

/** Another user could have put a program of their own into a shared cache. */
function checkOwner(folder: string): void {
  const own = [0, process.getuid?.()];
  const foreign = [dirname(folder), folder].find((path) => !own.includes(statSync(path).uid));
  if (foreign !== undefined) {
    throw new Error(`runnel does not start a program from ${foreign}: it belongs to another user.\n${chooseAnother}`);
  }
}
