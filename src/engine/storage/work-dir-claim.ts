// Which client has named which directory. A claim keeps other clients from the directory, from those in it and from those around
// it, for good: it outlives the sessions. Paths are absolute and without links.

import { sql } from "kysely";
import { listAncestors } from "../../platform/base/owner.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** A directory that a client names. */
export interface NamedDirectory {
  readonly client: string;
  readonly path: string;
}

/** Whose directory it is: the client's by a claim on it or around it, another client's, or of no client. */
export type ClaimState = "own" | "another's" | "free";

/** Returns whose directory it is. */
export async function readClaim(db: Db | Transaction, { client, path }: NamedDirectory): Promise<ClaimState> {
  // "0" follows "/" in the order of bytes.
  const { rows } = await sql<{ isOwn: boolean | null; isAnothers: boolean | null }>`
    select bool_or(client = ${client} and length(path) <= length(${path})) as "isOwn", bool_or(client <> ${client}) as "isAnothers"
    from work_dir_claim
    where path = any(${listAncestors(path)}::text[]) or (path >= ${`${path}/`} and path < ${`${path}0`})`.execute(db);
  const [{ isOwn, isAnothers } = { isOwn: null, isAnothers: null }] = rows;
  return isAnothers === true ? "another's" : isOwn === true ? "own" : "free";
}

/**
 * Claims a directory for a client. Returns false when it is another client's. Other claims wait until the transaction ends.
 */
export async function claimDirectory(trx: Transaction, named: NamedDirectory): Promise<boolean> {
  // Two claims on nested directories are rows of different keys, so no constraint can refuse the later one.
  await sql`select pg_advisory_xact_lock(hashtext('runnel work directories'))`.execute(trx);
  const state = await readClaim(trx, named);
  if (state === "free") {
    await trx.insertInto("work_dir_claim").values(named).execute();
  }
  return state !== "another's";
}
