// How much the work directories have grown since this replica first ran a command in them, and so what the next command may
// write. A directory is measured when it is first seen and after commands that may have changed its size: most do not.

import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { writtenBytesLeast } from "./limits.ts";

interface Known {
  readonly bytesAtFirst: number;
  /** Undefined when it has to be measured again. */
  bytes: number | undefined;
}

/** Directories that are remembered. One that is forgotten is measured anew, as if it were first seen. */
const directoriesMax = 10_000;

/** A tree with more entries is not measured to its end: that would take seconds. */
const entriesMax = 100_000;

export class Growth {
  readonly #bytesMax: number;
  readonly #known = new Map<string, Known>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** How many bytes a command may write there; a few, so that it can tidy up, where there is no room. */
  async roomIn(directory: string): Promise<number> {
    const known = this.#known.get(directory);
    const bytes = known?.bytes ?? (await measure(directory));
    const bytesAtFirst = known?.bytesAtFirst ?? bytes;
    this.#remember(directory, { bytesAtFirst, bytes });
    return Math.max(writtenBytesLeast, this.#bytesMax - Math.max(0, bytes - bytesAtFirst));
  }

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

/** Bytes on disk, links not followed. What cannot be read counts as empty. */
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
  // The system counts in blocks of 512 bytes, whatever those of the disk are.
  return await lstat(path).then(
    ({ blocks }) => blocks * 512,
    () => 0,
  );
}
