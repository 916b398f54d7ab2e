// A file that is either complete or missing: written beside its path and moved there at the end. An existing file is
// overwritten only with --force.

import { randomBytes } from "node:crypto";
import { closeSync, existsSync, lstatSync, openSync, rmSync } from "node:fs";
import { type FileHandle, link, open, rename } from "node:fs/promises";
import { CommandError } from "./command-error.ts";

/** Options of a new file. */
export interface NewFileOptions {
  /** Overwrites an existing file. */
  readonly force: boolean;
  /** The permissions; unset means what the system gives new files. */
  readonly mode?: number;
}

/** The buffer's size: lines are short, and each write takes a turn of the event loop. */
const heldCharsMax = 65_536;

interface FileBeside extends Disposable {
  readonly path: string;
}

/** A file under construction. Without `keep`, it disappears at the end. */
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

  /** Opens the file. Throws a `CommandError`. Callers open it before they call a service, so that its answer is never lost. */
  static async open(path: string, options: NewFileOptions): Promise<NewFile> {
    assertPlace(path, options);
    try {
      using beside = new DisposableStack();
      const file = beside.use(makeBeside(path, options));
      const made = new NewFile(path, options, file, await open(file.path, "a"));
      beside.move();
      return made;
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  async write(content: string | Uint8Array): Promise<void> {
    if (typeof content !== "string") {
      await this.#flush();
      await this.#append(content);
      return;
    }
    this.#held += content;
    if (this.#held.length >= heldCharsMax) {
      await this.#flush();
    }
  }

  /** Moves the file to its path. Throws a `CommandError`. */
  async keep(): Promise<void> {
    await this.#flush();
    try {
      await this.#handle.sync();
      // Another process may have made the file meanwhile: a link fails then, a rename overwrites it.
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
    await this.#append(this.#held);
    this.#held = "";
  }

  async #append(content: string | Uint8Array): Promise<void> {
    try {
      await this.#handle.appendFile(content);
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }
}

/** Makes the file and the handler that removes it in one step, so that an interruption leaves no file behind. */
function makeBeside(path: string, { mode }: NewFileOptions): FileBeside {
  const beside = `${path}.${randomBytes(6).toString("hex")}.part`;
  const remove = (): void => rmSync(beside, { force: true });
  closeSync(openSync(beside, "wx", mode));
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
  // A rename would replace a device, or a link to one, for the whole machine.
  if (!lstatSync(path).isFile()) {
    throw new CommandError(`cannot write ${path}: it exists and is not a regular file`, { reason: "FILE_UNWRITABLE" });
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
