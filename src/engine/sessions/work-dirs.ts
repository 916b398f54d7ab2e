// The directories that tools work in. A session has its own directory, unless it names one. It may not name:
//
// D1  a directory of the system or of the service, or one outside the operator's list.
// D2  a directory of another session.
//
// Both are checked when the session is created and again before its tools work: a link on the way may have changed by then.

import { createHash } from "node:crypto";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import { give, isRoot } from "../../platform/base/owner.ts";
import { removeTree } from "./remove-tree.ts";
import { sessionOwner } from "./session-owner.ts";
import { isWithin } from "./within.ts";
import type { WorkPlace } from "./work-place.ts";

/** Options of the work directories. */
export interface WorkDirsOptions {
  /** The directory that holds the own directories of sessions. */
  readonly root: string;
  /** Files and directories of the service: no session may work there or see them. */
  readonly reserved: readonly string[];
  /** Directories that sessions may name, each with those in it. */
  readonly permitted: readonly string[];
}

/** Checks, opens and removes work directories. */
export class WorkDirs {
  readonly #root: string;
  /** Paths that no session may see, also in a directory that it names. */
  readonly hidden: readonly string[];
  readonly #permitted: readonly string[];

  constructor({ root, reserved, permitted }: WorkDirsOptions) {
    this.#root = root;
    this.hidden = [...reserved, root];
    this.#permitted = permitted;
  }

  /**
   * Checks a directory that a client names. Uses the words of the Agent Runner document where it has some.
   * @throws Fault INVALID_ARGUMENT when tools cannot or may not work in it.
   */
  async check(named: string): Promise<void> {
    await this.#locate(named);
  }

  /** Returns whether sessions may name a directory. */
  async isPermitted(named: string): Promise<boolean> {
    return await this.#locate(named).then(
      () => true,
      () => false,
    );
  }

  /**
   * Opens the directory for a session's tools. Creates the session's own one. When tools may not use a named one, the result
   * has a refusal with the reason.
   */
  async open(session: OwnedSession, named: string | undefined): Promise<WorkPlace> {
    if (named === undefined) {
      return await this.#openOwn(session);
    }
    const hidden = this.hidden;
    try {
      return { workDir: named, realPath: await this.#locate(named), hidden };
    } catch (error) {
      if (error instanceof Fault) {
        return { workDir: named, realPath: named, hidden, refusal: error.message };
      }
      throw error;
    }
  }

  /** Removes a session's own directory with its contents; does nothing when it does not exist. */
  async remove(session: OwnedSession): Promise<void> {
    await removeTree(this.#ownOf(session));
  }

  async #openOwn(session: OwnedSession): Promise<WorkPlace> {
    const own = this.#ownOf(session);
    // When the service is root, commands run as another user, who has to enter this directory.
    await mkdir(dirname(own), { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    await mkdir(own, { recursive: true, mode: 0o700 });
    // Bash refuses a directory that is reached by a link, and the operator's root may be one.
    const realPath = await realpath(own);
    if (isRoot()) {
      await using directory = await open(realPath);
      await give(directory, sessionOwner);
    }
    // The directory lies inside a hidden one, so the hidden ones around it are left out.
    return { workDir: realPath, realPath, hidden: this.hidden.filter((place) => !isWithin(realPath, place)) };
  }

  /** Returns the own directory of a session. Two sessions never share one, even with unusual ids. */
  #ownOf({ client, id }: OwnedSession): string {
    return join(this.#root, createHash("sha256").update(client).digest("hex").slice(0, 16), id);
  }

  /** Returns the real path of a named directory. */
  async #locate(named: string): Promise<string> {
    if (!isAbsolute(named) || named.includes("\0")) {
      throw invalidField("work_dir", "must be an absolute path");
    }
    if (this.#permitted.length === 0) {
      throw invalidField("work_dir", noneListed);
    }
    const real = await findDirectory(named);
    const why = this.#whyNot(real);
    if (why !== undefined) {
      throw invalidField(
        "work_dir",
        `not permitted: ${named} ${why}; name another directory, or leave work_dir out to get a new one`,
      );
    }
    return real;
  }

  #whyNot(real: string): string | undefined {
    if (real === "/" || systemPlaces.some((place) => isWithin(real, place))) {
      return "belongs to the system";
    }
    if (this.hidden.some((place) => isWithin(real, place))) {
      return "belongs to the service";
    }
    const isPermitted = this.#permitted.some((place) => isWithin(real, place));
    return isPermitted ? undefined : "is outside the directories that this service permits";
  }
}

const noneListed =
  "not permitted: this service lists no directory that sessions may name; leave work_dir out to get a new one, or ask its " +
  "operator to list directories in sessions.work_dirs (RUNNEL_SESSIONS_WORK_DIRS)";

/** A directory below one of these belongs to the system. */
const systemPlaces = [
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/proc",
  "/run",
  "/sbin",
  "/sys",
  "/usr",
];

interface OwnedSession {
  readonly id: string;
  readonly client: string;
}

async function findDirectory(path: string): Promise<string> {
  const found = await Promise.all([stat(path), realpath(path)]).catch((error: unknown) => {
    throw invalidField("work_dir", `not accessible: stat ${path}: ${describe(error)}`);
  });
  const [stats, real] = found;
  if (!stats.isDirectory()) {
    throw invalidField("work_dir", "not a directory");
  }
  return real;
}

function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") {
    return "no such file or directory";
  }
  if (code === "EACCES") {
    return "permission denied";
  }
  return String(code ?? "unknown error");
}
