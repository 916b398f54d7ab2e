// A file that is complete or not there: written beside its place, and put there at the end. Nothing is written over unless somebody
// wants that.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, lstatSync, openSync, rmSync } from "node:fs";
import { type FileHandle, link, open, rename } from "node:fs/promises";
import { CommandError } from "./command-error.ts";

export interface NewFileOptions {
  /** Writes over a file that is there. */
  readonly force: boolean;
}

/** Lines are short, and each write is a turn. */
const heldCharsMax = 65_536;

interface FileBeside extends Disposable {
  readonly path: string;
}

export class NewFile implements AsyncDisposable {
  readonly path: string;
  readonly #options: NewFileOptions;
  readonly #beside: FileBeside;
  readonly #handle: FileHandle;
  #held = "";

  private constructor(path: string, options: NewFileOptions, beside: FileBeside, handle: FileHandle) {
    this.path = path;
    this.#options = options;
    this.#beside = beside;
    this.#handle = handle;
  }

  /** Throws a `CommandError`: before anything is asked of a service, for whose answer there would be no place. */
  static async open(path: string, options: NewFileOptions): Promise<NewFile> {
    assertPlace(path, options);
    try {
      using beside = new DisposableStack();
      const file = beside.use(makeBeside(path));
      const made = new NewFile(path, options, file, await open(file.path, "a"));
      beside.move();
      return made;
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  async write(text: string): Promise<void> {
    this.#held += text;
    if (this.#held.length >= heldCharsMax) {
      await this.#flush();
    }
  }

  /** Puts the file into its place. */
  async keep(): Promise<void> {
    await this.#flush();
    try {
      await this.#handle.sync();
      // A link is refused where somebody was quicker, a rename is not.
      await (this.#options.force ? rename(this.#beside.path, this.path) : link(this.#beside.path, this.path));
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    this.#beside[Symbol.dispose]();
  }

  async #flush(): Promise<void> {
    try {
      await this.#handle.appendFile(this.#held);
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
    this.#held = "";
  }
}

/** Made and cared for at once: an interruption finds either no file or somebody who removes it. */
function makeBeside(path: string): FileBeside {
  const beside = `${path}.${randomBytes(6).toString("hex")}.part`;
  const remove = (): void => rmSync(beside, { force: true });
  closeSync(openSync(beside, "wx"));
  process.once("exit", remove);
  return {
    path: beside,
    [Symbol.dispose]: () => {
      process.off("exit", remove);
      remove();
    },
  };
}

function assertPlace(path: string, { force }: NewFileOptions): void {
  if (!existsSync(path)) {
    return;
  }
  if (!force) {
    throw exists(path);
  }
  // What is put in the place of a device, or of a link to one, takes it away from everybody.
  if (!lstatSync(path).isFile()) {
    throw new CommandError(`cannot write ${path}: it is there and is no regular file`, { reason: "FILE_UNWRITABLE" });
  }
}

function exists(path: string, cause?: unknown): CommandError {
  const fix = "name another file, or add --force";
  return new CommandError(`cannot write ${path}: it exists`, { reason: "FILE_EXISTS", fix, cause });
}

function unwritable(path: string, cause: unknown): CommandError {
  if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") {
    return exists(path, cause);
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CommandError(`cannot write ${path}: ${why}`, { reason: "FILE_UNWRITABLE", cause });
}
