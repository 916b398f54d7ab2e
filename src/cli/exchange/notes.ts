// Notes on the disk which files of inbox/ were taken for which sequence. A file is noted before it is sent, so it is executed
// once, even if any process dies at any moment.
//
// N1  A file is noted with its sequence before it is sent. After a crash it is sent for the same sequence again, and gets the
//     answer of the first time.
// N2  A file that was answered is never sent again, even when it cannot be moved away. A file of the same name with another
//     time, size or content is another file.
// N3  A note is removed when its file has gone from inbox/, or was refused.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "../../platform/base/error-code.ts";
import { CommandError } from "../command-error.ts";
import type { Folders } from "./folders.ts";
import { putFile, removeFile } from "./whole-file.ts";

/** The identity of a file. */
export interface Taken {
  readonly name: string;
  readonly size: number;
  readonly mtimeNs: string;
  readonly sha256: string;
}

/** The note of a file. */
export interface Note extends Taken {
  readonly sequence: number;
  readonly isAnswered: boolean;
}

/** The notes of one exchange, in a file of sessions/. */
export class Notes {
  readonly #path: string;
  #notes: readonly Note[];

  private constructor(path: string, notes: readonly Note[]) {
    this.#path = path;
    this.#notes = notes;
  }

  static async read({ sessions }: Folders, id: string): Promise<Notes> {
    const path = join(sessions, `${id}.taken.json`);
    return new Notes(path, await readNotes(path));
  }

  find(taken: Taken): Note | undefined {
    return this.#notes.find((note) => isSame(note, taken));
  }

  has(isMeant: (taken: Taken) => boolean): boolean {
    return this.#notes.some(isMeant);
  }

  async put(note: Note): Promise<void> {
    await this.#write([...this.#notes.filter((each) => !isSame(each, note)), note]);
  }

  async drop(taken: Taken): Promise<void> {
    await this.#write(this.#notes.filter((each) => !isSame(each, taken)));
  }

  /** Drops the notes of files that are gone. */
  async dropUnless(isThere: (taken: Taken) => boolean): Promise<void> {
    const kept = this.#notes.filter(isThere);
    if (kept.length < this.#notes.length) {
      await this.#write(kept);
    }
  }

  async #write(notes: readonly Note[]): Promise<void> {
    await (notes.length === 0
      ? removeFile(this.#path)
      : putFile(this.#path, `${JSON.stringify({ taken: notes }, undefined, 2)}\n`));
    this.#notes = notes;
  }
}

function isSame(one: Taken, other: Taken): boolean {
  return (
    one.name === other.name && one.size === other.size && one.mtimeNs === other.mtimeNs && one.sha256 === other.sha256
  );
}

async function readNotes(path: string): Promise<readonly Note[]> {
  try {
    return JSON.parse(await readFile(path, "utf8")).taken;
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) {
      return [];
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot read ${path}: ${why}`, { reason: "INVALID_FILE", cause });
  }
}
