// The files of inbox/: every regular file `*.txt` directly in it, the oldest first, once its writer has finished. Links,
// folders, empty files and other names never count as answers.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../platform/base/clock.ts";
import { hasErrorCode } from "../../platform/base/error-code.ts";
import { CommandError } from "../command-error.ts";
import { decodeText } from "../input.ts";
import type { Folders } from "./folders.ts";
import type { Taken } from "./notes.ts";
import { inboxBytesMax } from "./text.ts";
import { syncFolder } from "./whole-file.ts";

/** Editors and browsers write a file in steps. After this time without a change it is complete. */
const settledMs = 500;

/** A file of inbox/. */
export interface InboxFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeNs: bigint;
  /** Changes with every change of the file. */
  readonly stamp: string;
}

/** An answer: the text of a file, and its identity. */
export interface Answer extends Taken {
  readonly text: string;
}

interface Sighting {
  readonly stamp: string;
  readonly sinceMs: number;
}

/** The inbox, with what it has seen of its files. */
export class Inbox {
  readonly #folders: Folders;
  #seen: ReadonlyMap<string, Sighting> = new Map();
  /** The stamps of files to skip until they change. */
  readonly #left = new Map<string, string>();

  constructor(folders: Folders) {
    this.#folders = folders;
  }

  /** Returns the oldest file, or undefined while inbox/ is empty or the file may still be written. */
  async next(): Promise<InboxFile | undefined> {
    const nowMs = systemClock.monotonicMs();
    const files = await listInbox(this.#folders);
    this.#seen = new Map(
      files.map(({ name, stamp }) => {
        const before = this.#seen.get(name);
        return [name, before?.stamp === stamp ? before : { stamp, sinceMs: nowMs }];
      }),
    );
    const oldest = files.find(({ name, stamp }) => this.#left.get(name) !== stamp);
    const since = oldest && this.#seen.get(oldest.name)?.sinceMs;
    return since !== undefined && nowMs - since >= settledMs ? oldest : undefined;
  }

  leave({ name, stamp }: InboxFile): void {
    this.#left.set(name, stamp);
  }

  /** Reads a file. Returns undefined when it changed or disappeared meanwhile. Throws a `CommandError` when it is not text. */
  async read(file: InboxFile): Promise<Answer | undefined> {
    const { name, size, mtimeNs, stamp } = file;
    if (size > inboxBytesMax) {
      throw new CommandError(`${name} is longer than ${inboxBytesMax} bytes`, { reason: "FILE_TOO_LONG" });
    }
    const bytes = await readUnchanged(join(this.#folders.inbox, name), stamp);
    if (bytes === undefined) {
      return undefined;
    }
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { name, size, mtimeNs: String(mtimeNs), sha256, text: decodeText(name, bytes) };
  }

  /**
   * Moves a file to processed/ and overwrites one of that name. A file that changed meanwhile stays, because it is another
   * answer. Throws the error of the system.
   */
  async move({ name, size, mtimeNs, stamp }: InboxFile): Promise<void> {
    const { inbox, processed } = this.#folders;
    const now = await look(inbox, name);
    if (now?.stamp !== stamp) {
      return;
    }
    await rename(join(inbox, name), join(processed, name));
    const moved = await look(processed, name);
    if (moved?.size !== size || moved.mtimeNs !== mtimeNs) {
      // Another answer was written after the look.
      await putBack(join(processed, name), join(inbox, name));
    }
    await syncFolder(processed);
    await syncFolder(inbox);
  }
}

/** Moves a file back, unless there is a newer one by now. */
async function putBack(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await unlink(from);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) {
      throw error;
    }
  }
}

/** Lists the files by the time of their last change, then by name. */
export async function listInbox({ inbox }: Folders): Promise<InboxFile[]> {
  const names = (await readdir(inbox)).filter((name) => name.endsWith(".txt"));
  const files = await Promise.all(names.map((name) => look(inbox, name)));
  return files
    .filter((file) => file !== undefined)
    .sort((one, other) =>
      one.mtimeNs === other.mtimeNs ? order(one.name, other.name) : order(one.mtimeNs, other.mtimeNs),
    );
}

function order<T extends string | bigint>(one: T, other: T): number {
  return one < other ? -1 : 1;
}

async function look(inbox: string, name: string): Promise<InboxFile | undefined> {
  const path = join(inbox, name);
  const stats = await lstat(path, { bigint: true }).catch(whenGone);
  // A program has made an empty file, and has not written to it yet.
  return stats?.isFile() && stats.size > 0n
    ? { name, size: Number(stats.size), mtimeNs: stats.mtimeNs, stamp: stampOf(stats) }
    : undefined;
}

function whenGone(error: unknown): undefined {
  if (!hasErrorCode(error, "ENOENT")) {
    throw error;
  }
}

interface FileStats {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

function stampOf({ ino, size, mtimeNs, ctimeNs }: FileStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

async function readUnchanged(path: string, stamp: string): Promise<Buffer | undefined> {
  try {
    // The path may hold something else by now: follow no link and wait for no pipe.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const isSame = async (): Promise<boolean> => (await stampOfOpen(file)) === stamp;
    const bytes = (await isSame()) ? await file.readFile() : undefined;
    return (await isSame()) ? bytes : undefined;
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ELOOP")) {
      return undefined;
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot read ${path}: ${why}`, { reason: "FILE_UNREADABLE", cause });
  }
}

async function stampOfOpen(file: FileHandle): Promise<string> {
  return stampOf(await file.stat({ bigint: true }));
}
