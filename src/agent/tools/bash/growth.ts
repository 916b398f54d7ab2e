// Tracks how much each work directory has grown since this replica first ran a command in it, which limits what the next
// command may write. A directory is measured at first use and after commands that may have changed its size; most do not.

import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { writtenBytesLeast } from "./limits.ts";

interface Known {
  readonly bytesAtFirst: number;
  /** Undefined when the directory must be measured again. */
  bytes: number | undefined;
}

/** The maximum number of remembered directories. A forgotten directory is measured as if it were new. */
const directoriesMax = 10_000;

/** The maximum number of measured entries. Measuring a larger tree to its end would take seconds. */
const entriesMax = 100_000;

/** The growth of all work directories of this replica. */
export class Growth {
  readonly #bytesMax: number;
  readonly #known = new Map<string, Known>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns how many bytes a command may write there. A full directory still gets a few, so that the command can tidy up. */
  async roomIn(directory: string): Promise<number> {
    const known = this.#known.get(directory);
    const bytes = known?.bytes ?? (await measure(directory));
    const bytesAtFirst = known?.bytesAtFirst ?? bytes;
    this.#remember(directory, { bytesAtFirst, bytes });
    return Math.max(writtenBytesLeast, this.#bytesMax - Math.max(0, bytes - bytesAtFirst));
  }

  /** Marks a directory to be measured before the next command. */
  mayHaveChanged(directory: string): void {
    const known = this.#known.get(directory);
    if (known !== undefined) {
      known.bytes = undefined;
    }
  }

  #remember(directory: string, known: Known): void {
    this.#known.delete(directory);
    this.#known.set(directory, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > directoriesMax && oldest !== undefined) {
      this.#known.delete(oldest);
    }
  }
}

/** Returns the bytes on disk without following links. Unreadable entries count as empty. */
async function measure(directory: string): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const directories = [directory];
  for (let path = directories.pop(); path !== undefined; path = directories.pop()) {
    for await (const entry of await openQuietly(path)) {
      entries += 1;
      if (entries > entriesMax) {
        return bytes;
      }
      const below = join(path, entry.name);
      if (entry.isDirectory()) {
        directories.push(below);
      }
      bytes += await bytesOf(below);
    }
  }
  return bytes;
}

async function openQuietly(path: string): Promise<AsyncIterable<Dirent> | readonly Dirent[]> {
  return await opendir(path).catch(() => []);
}

async function bytesOf(path: string): Promise<number> {
  // `blocks` counts units of 512 bytes, independent of the disk's block size.
  return await lstat(path).then(
    ({ blocks }) => blocks * 512,
    () => 0,
  );
}
