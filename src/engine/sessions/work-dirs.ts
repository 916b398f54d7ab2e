// The directories that tools work in. A session has one of its own, unless it names one. What it may not name:
// D1  a place of the system or of the service, or what the operator did not list, if there is a list.
// D2  a directory of another session.
// Both hold when the session is made and again before its tools work, since a link on the way may lead elsewhere by then.

import { createHash } from "node:crypto";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import { give, isRoot } from "../../platform/base/owner.ts";
import { removeTree } from "./remove-tree.ts";
import { sessionOwner } from "./session-owner.ts";
import { isWithin } from "./within.ts";
import type { WorkPlace } from "./work-place.ts";

export interface WorkDirsOptions {
  /** Below which sessions that name no directory have theirs. */
  readonly root: string;
  /** What is the service's own: no session works there, and none is shown it. */
  readonly reserved: readonly string[];
  /** Below which sessions may name directories; anywhere else too when there is none. */
  readonly permitted: readonly string[];
}

export class WorkDirs {
  readonly #root: string;
  /** What no session is shown, whatever directory it names. */
  readonly hidden: readonly string[];
  readonly #permitted: readonly string[];

  constructor({ root, reserved, permitted }: WorkDirsOptions) {
    this.#root = root;
    this.hidden = [...reserved, root];
    this.#permitted = permitted;
  }

  /** Refuses a directory that tools could not use or may not, in the words of the Agent Runner document where it has some. */
  async check(named: string): Promise<void> {
    await this.#locate(named);
  }

  /** Whether sessions may name it. */
  async isPermitted(named: string): Promise<boolean> {
    return await this.#locate(named).then(
      () => true,
      () => false,
    );
  }

  /** Where the tools of a session work. Its own directory is made; for a named one that they may not use, they are told why. */
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

  /** Removes a session's own directory with all that is in it; nothing happens when there is none. */
  async remove(session: OwnedSession): Promise<void> {
    await removeTree(this.#ownOf(session));
  }

  async #openOwn(session: OwnedSession): Promise<WorkPlace> {
    const own = this.#ownOf(session);
    // Commands of a service of root run as another user, who has to pass through.
    await mkdir(dirname(own), { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    await mkdir(own, { recursive: true, mode: 0o700 });
    // Bash works in no directory that is reached by a link, as the operator's may be.
    const realPath = await realpath(own);
    if (isRoot()) {
      await using directory = await open(realPath);
      await give(directory, sessionOwner);
    }
    // It lies among the service's own places: those around it hide nothing of it.
    return { workDir: realPath, realPath, hidden: this.hidden.filter((place) => !isWithin(realPath, place)) };
  }

  /** Two sessions never share one, whatever their ids look like. */
  #ownOf({ client, id }: OwnedSession): string {
    return join(this.#root, createHash("sha256").update(client).digest("hex").slice(0, 16), id);
  }

  /** Where a named directory is. */
  async #locate(named: string): Promise<string> {
    if (!isAbsolute(named) || named.includes("\0")) {
      throw invalidField("work_dir", "must be an absolute path");
    }
    const real = await findDirectory(named);
    const why = this.#whyNot(real);
    if (why !== undefined) {
      throw invalidField(
        "work_dir",
        `not permitted: ${named} ${why}; name a directory of your own, or none to be given one`,
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
    const isPermitted = this.#permitted.length === 0 || this.#permitted.some((place) => isWithin(real, place));
    return isPermitted ? undefined : "is in none of the directories that this service lets sessions work in";
  }
}

/** Below which a session names a directory of the system, not one of its own. */
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
