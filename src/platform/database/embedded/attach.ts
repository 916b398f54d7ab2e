// Joins a server that already runs on the data: left over from a killed process, or kept by another process. Call it under the
// cluster's lock.

import { hasErrorCode } from "../../base/error-code.ts";
import { embeddedFailure, messageOf } from "./failure.ts";
import { connectPresence, type Identity, type Login, type Presence } from "./login.ts";
import { dataFolderOf } from "./place.ts";
import { poll } from "./poll.ts";
import { clearStalePidFile, isServing, readPostmaster } from "./postmaster.ts";

/** A server that this process joined. */
export interface Attachment {
  readonly presence: Presence;
  readonly login: Login;
}

/**
 * Returns undefined when no server runs, so that the caller may start one. Waits for a server that is starting or stopping.
 * Throws when a living server does not let us in: its files are never removed.
 */
export async function attachToPostmaster(
  home: string,
  identity: Identity,
  signal: AbortSignal | undefined,
): Promise<Attachment | undefined> {
  const dataFolder = dataFolderOf(home);
  let refusal: unknown;
  const look = async (): Promise<Attachment | "gone" | undefined> => {
    const postmaster = readPostmaster(dataFolder);
    if (postmaster === undefined) {
      return "gone";
    }
    if (postmaster.address !== undefined) {
      const target = { ...identity, ...postmaster.address };
      try {
        return { presence: await connectPresence(target), login: target };
      } catch (error) {
        refusal = error;
      }
    }
    if (!isServing(postmaster.pid, dataFolder)) {
      await clearStalePidFile(dataFolder, postmaster.pid, signal);
      return "gone";
    }
    if (hasErrorCode(refusal, ...loginRefused)) {
      throw refuse(dataFolder, postmaster.pid, refusal);
    }
    return undefined;
  };
  const seen = await poll(look, { timeoutMs: attachTimeoutMs, signal });
  if (seen === undefined) {
    throw refuse(dataFolder, readPostmaster(dataFolder)?.pid, refusal);
  }
  return seen === "gone" ? undefined : seen;
}

/** Long enough for a server that recovers or shuts down after its starter crashed. */
const attachTimeoutMs = 30_000;

/** The SQLSTATEs invalid_password and invalid_authorization_specification. */
const loginRefused = ["28P01", "28000"];

function refuse(dataFolder: string, pid: number | undefined, cause: unknown): Error {
  return embeddedFailure(
    `A Postgres (pid ${pid ?? "unknown"}) already runs on ${dataFolder} but does not let us in: ${messageOf(cause)}.`,
    { cause },
  );
}
