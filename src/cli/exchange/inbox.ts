// What lies in inbox/: every regular file `*.txt` directly in it, the oldest first, once nobody writes to it any more. Links,
// folders and other names are nobody's answer.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../platform/base/clock.ts";
import { hasErrorCode } from "../../platform/base/error-code.ts";
import { CommandError } from "../command-error.ts";
import type { Folders } from "./folders.ts";
import type { Taken } from "./notes.ts";
import { decodeText, inboxBytesMax } from "./text.ts";
import { syncFolder } from "./whole-file.ts";

/** Editors and browsers write a file in steps; after this time without one it is whole. */
const settledMs = 500;

export interface InboxFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeNs: bigint;
  /** Changes whenever anything about the file does. */
  readonly stamp: string;
}

export interface Answer extends Taken {
  readonly text: string;
}

interface Sighting {
  readonly stamp: string;
  readonly sinceMs: number;
}

export class Inbox {
  readonly #folders: Folders;
  #seen: ReadonlyMap<string, Sighting> = new Map();
  /** Files that are not to be looked at before they change. */
  readonly #left = new Map<string, string>();

  constructor(folders: Folders) {
    this.#folders = folders;
  }

  /** The oldest file, or undefined while there is none or it may still be written. */
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

  /** Undefined when it changed or went since it was seen. Throws a `CommandError` for one that is no text. */
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

  /** Into processed/, over one of that name. One that was changed meanwhile stays: it is another answer. Throws what the system says. */
  async move({ name, stamp }: InboxFile): Promise<void> {
    const { inbox, processed } = this.#folders;
    const now = await look(inbox, name);
    if (now?.stamp === stamp) {
      await rename(join(inbox, name), join(processed, name));
      await syncFolder(processed);
      await syncFolder(inbox);
    }
  }
}

/** By time of the last change, then by name. */
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
  return stats?.isFile()
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
    // It may be another thing by now: no link is followed, and no pipe waited for.
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
