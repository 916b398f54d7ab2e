// The directories that tools work in. A session has its own directory, unless it names one. It may not name:
//
// D1  a directory of the system or of the service, or one outside the operator's list.
// D2  a directory of another session.
// D3  a directory that another client has named, one in it or one around it.
//
// All are checked when the session is created and again before its tools work: a link on the way may have changed by then.

import { createHash } from "node:crypto";
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import { findClosedFolder, give, isRoot } from "../../platform/base/owner.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { type ClaimState, claimDirectory, type NamedDirectory, readClaim } from "../storage/work-dir-claim.ts";
import { clientDirectory } from "./client-directory.ts";
import { describe, findDirectory, reach } from "./find-directory.ts";
import { removeTree } from "./remove-tree.ts";
import { sessionOwner } from "./session-owner.ts";
import { isWithin } from "./within.ts";
import type { Workspace } from "./workspace.ts";

/** Options of the work directories. */
export interface WorkDirsOptions {
  /** The directory that holds the own directories of sessions. */
  readonly root: string;
  /** Files and directories of the service: no session may work there or see them. */
  readonly reserved: readonly string[];
  /** Directories that sessions may name, each with those in it. `{client}` means the directory of the session's client. */
  readonly permitted: readonly string[];
  /** Where the claims of clients are; undefined while clients prove nothing, so that none can own a directory. */
  readonly claims: Db | undefined;
}

/** Checks, opens and removes work directories. */
export class WorkDirs {
  readonly #root: string;
  /** Paths that no session may see, also in a directory that it names. */
  readonly hidden: readonly string[];
  /** Directories that every client may name. */
  readonly #shared: readonly string[];
  /** Listed paths that lead each client to a directory of its own. */
  readonly #trees: readonly string[];
  readonly #claims: Db | undefined;
  #usual: string | undefined;

  constructor({ root, reserved, permitted, claims }: WorkDirsOptions) {
    this.#root = root;
    this.hidden = [...reserved, root];
    this.#shared = permitted.filter((place) => !place.includes(clientMark));
    this.#trees = permitted.filter((place) => place.includes(clientMark));
    this.#claims = claims;
  }

  /**
   * Gives a client the directory that it names, in the transaction that makes its session. Uses the words of the Agent Runner
   * document where it has some.
   * @throws Fault INVALID_ARGUMENT when tools cannot or may not work in it.
   */
  async claim(trx: Transaction, named: string, client: string): Promise<void> {
    const located = await this.#locate(named, client, this.#claims && trx);
    if (!located.isClaimed) {
      await claimFree(trx, located);
    }
  }

  /** The directory of sessions that name none. Undefined means that each has one of its own. */
  get usual(): string | undefined {
    return this.#usual;
  }

  /** Lets sessions that name no directory work in this one, if sessions of every client may name it. */
  async offer(path: string): Promise<void> {
    const real = await reach(path);
    this.#usual = isIn(real, this.#shared) && this.#ownerOf(real) === undefined ? path : undefined;
  }

  /**
   * Opens the directory for a session's tools. Creates the session's own one. When tools may not use a named one, the result
   * has a refusal with the reason.
   */
  async open(session: OwnedSession, named: string | undefined): Promise<Workspace> {
    if (named === undefined) {
      return await this.#openOwn(session);
    }
    const workspace = { client: session.client, workDir: named, hidden: this.hidden };
    try {
      return { ...workspace, realPath: await this.#openNamed(named, session.client) };
    } catch (error) {
      if (error instanceof Fault) {
        return { ...workspace, realPath: named, refusal: error.message };
      }
      throw error;
    }
  }

  /**
   * Returns where a session's tools have worked, for readers. Does not create the session's own directory: undefined means that this
   * replica does not have it.
   */
  async find(session: OwnedSession, named: string | undefined): Promise<Workspace | undefined> {
    if (named !== undefined) {
      return await this.open(session, named);
    }
    try {
      return this.#workspaceAt(await realpath(this.#ownOf(session)), session);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return undefined;
      }
      throw error;
    }
  }

  /** Removes a session's own directory with its contents; does nothing when it does not exist. */
  async remove(session: OwnedSession): Promise<void> {
    await removeTree(this.#ownOf(session));
  }

  async #openOwn(session: OwnedSession): Promise<Workspace> {
    const own = this.#ownOf(session);
    await makePrivate(own);
    // Bash refuses a directory that is reached by a link, and the operator's root may be one.
    const realPath = await realpath(own);
    await giveToSessions(realPath);
    return this.#workspaceAt(realPath, session);
  }

  #workspaceAt(realPath: string, { client }: OwnedSession): Workspace {
    // The directory lies inside a hidden one, so the hidden ones around it are left out.
    const hidden = this.hidden.filter((place) => !isWithin(realPath, place));
    return { client, workDir: realPath, realPath, hidden };
  }

  /** Returns the own directory of a session. Two sessions never share one, even with unusual ids. */
  #ownOf({ client, id }: OwnedSession): string {
    return join(this.#root, createHash("sha256").update(client).digest("hex").slice(0, 16), id);
  }

  /** Claims it too: an older version may have made the session, and a link may lead elsewhere since then. */
  async #openNamed(named: string, client: string): Promise<string> {
    const db = this.#claims;
    const located = await this.#locate(named, client, db);
    if (db !== undefined && !located.isClaimed) {
      await db.transaction().execute((trx) => claimFree(trx, located));
    }
    return located.path;
  }

  /** Finds and judges a directory that a client names. Without `db` no claims count. */
  async #locate(named: string, client: string, db: Db | Transaction | undefined): Promise<Located> {
    if (!isAbsolute(named) || named.includes("\0")) {
      throw invalidField("work_dir", "must be an absolute path");
    }
    const trees = this.#trees.map((place) => place.replaceAll(clientMark, () => clientDirectory(client)));
    const listed = [...this.#shared, ...trees];
    if (listed.length === 0) {
      throw invalidField("work_dir", noneListed);
    }
    const refuse = (why: string): Fault => notPermitted(named, why, trees);
    // Judged before the service looks whether it exists: a refusal tells nothing about the files of other clients.
    const reached = await reach(named);
    if (!isIn(reached, listed)) {
      throw refuse(outside);
    }
    const state = db && (await readStates(db, client, [resolve(named), reached]));
    if (state === "another's") {
      throw refuse(anothers);
    }
    // What lies in a tree that is not there does not exist either, and its refusal leaves no directory.
    if (trees.includes(reached)) {
      await makeTree(reached);
    }
    const path = await findDirectory(named);
    const owner = this.#ownerOf(path);
    if (owner !== undefined) {
      throw refuse(`belongs to the ${owner}`);
    }
    // A link may have changed meanwhile.
    if (!isIn(path, listed)) {
      throw refuse(outside);
    }
    const isClaimed = db === undefined || (state === "own" && path === reached);
    return { client, path, isClaimed, refuse };
  }

  /** Returns whose directory it is when no session may name it. */
  #ownerOf(real: string): "system" | "service" | undefined {
    if (real === "/" || isIn(real, systemPlaces)) {
      return "system";
    }
    return isIn(real, this.hidden) ? "service" : undefined;
  }
}

function isIn(path: string, places: readonly string[]): boolean {
  return places.some((place) => isWithin(path, place));
}

/** The place of the client's directory in a listed path. */
const clientMark = "{client}";

/** Returns a listed directory that holds the trees of clients: every client could name those of the others in it. */
export function findAroundTrees(permitted: readonly string[]): string | undefined {
  const roots = permitted
    .filter((place) => place.includes(clientMark))
    .map((place) => place.slice(0, place.indexOf(`/${clientMark}`)) || "/");
  return permitted.find((place) => !place.includes(clientMark) && roots.some((root) => isWithin(root, place)));
}

/** Returns "another's" if one of the paths is, and otherwise the state of the last one. */
async function readStates(db: Db | Transaction, client: string, paths: readonly string[]): Promise<ClaimState> {
  let state: ClaimState = "free";
  for (const path of new Set(paths)) {
    state = await readClaim(db, { client, path });
    if (state === "another's") {
      break;
    }
  }
  return state;
}

/** A directory that a client names and that no rule of the service keeps from it. */
interface Located extends NamedDirectory {
  /** Whether no claim is needed. */
  readonly isClaimed: boolean;
  readonly refuse: (why: string) => Fault;
}

async function claimFree(trx: Transaction, { client, path, refuse }: Located): Promise<void> {
  if (Buffer.byteLength(path) > claimBytesMax) {
    throw invalidField("work_dir", `must have at most ${claimBytesMax} bytes without links`);
  }
  if (!(await claimDirectory(trx, { client, path }))) {
    throw refuse(anothers);
  }
}

/** Indexes of Postgres take keys of some 2,700 bytes. */
const claimBytesMax = 2_000;

const anothers = "belongs to another client";
const outside = "is outside the directories that this service permits";

/** Returns the fault of a refused directory. `trees` are those of the caller. */
function notPermitted(named: string, why: string, [tree]: readonly string[]): Fault {
  const other = tree === undefined ? "name another directory" : `name ${tree} or a directory in it`;
  return invalidField("work_dir", `not permitted: ${named} ${why}; ${other}, or leave work_dir out to get a new one`);
}

const noneListed =
  "not permitted: this service lists no directory that sessions may name; leave work_dir out to get a new one, or ask its " +
  "operator to list directories in sessions.work_dirs (RUNNEL_SESSIONS_WORK_DIRS)";

/** A directory below one of these belongs to the system. */
export const systemPlaces = [
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

/** Makes a directory that only the service may enter. Returns the first directory that it made, if it made any. */
async function makePrivate(path: string): Promise<string | undefined> {
  // When the service is root, commands run as another user, who has to enter this directory.
  await mkdir(dirname(path), { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  return await mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Makes the tree of a client. One that is there may be the operator's, and stays as it is.
 * @throws Fault CONFIG_INVALID when the service may not make it.
 */
async function makeTree(path: string): Promise<void> {
  const made = await makePrivate(path).catch((cause: unknown) => {
    const fix = "the operator has to let the service make directories there, or to make this one";
    throw new Fault("CONFIG_INVALID", `sessions.work_dirs: ${path} cannot be made (${describe(cause)}): ${fix}`, {
      cause,
    });
  });
  if (made !== undefined) {
    await giveToSessions(path);
  }
}

/**
 * Gives a directory to the user of commands. Where that user cannot come, commands run as root, and root without its capabilities
 * cannot enter the directory of another user.
 */
async function giveToSessions(path: string): Promise<void> {
  if (isRoot()) {
    await using directory = await open(path);
    await give(directory, findClosedFolder(dirname(path), sessionOwner) === undefined ? sessionOwner : root);
  }
}

const root = { uid: 0, gid: 0 };
