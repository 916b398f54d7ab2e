// Small JSON values that outlive runs, by owner: memories, and the state of protocols. Each write of a value gives it a higher version
// than every earlier one of the table.

import { sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";

/** The owner of the state, a hash, and the key of the value. */
export interface StateKey {
  readonly owner: Uint8Array;
  readonly key: string;
}

/** A value as it is stored. */
export interface StateValue {
  /** JSON as it was written. */
  readonly value: string;
  readonly version: number;
  readonly updateTime: Date;
}

/** A value in a list. */
export interface StateEntry extends Omit<StateValue, "value"> {
  readonly key: string;
  readonly sizeBytes: number;
}

/** Returns a value; undefined when it is missing. */
export async function findStateValue(db: Db | Transaction, { owner, key }: StateKey): Promise<StateValue | undefined> {
  if (!isStorableText(key)) {
    return undefined;
  }
  const { rows } = await sql<StateValue>`
    select value, version, update_time as "updateTime" from state_value
    where owner = ${Buffer.from(owner)} and key = ${key}`.execute(db);
  return rows[0];
}

/** Stores a value, and returns it as an entry. It is deleted with its session, if it has one. */
export async function setStateValue(
  trx: Transaction,
  {
    owner,
    key,
    client,
    value,
    session = null,
  }: StateKey & { readonly client: string; readonly value: string; readonly session?: string | null },
): Promise<StateEntry> {
  const { rows } = await sql<StateEntry>`
    insert into state_value (owner, key, client, value, session)
    values (${Buffer.from(owner)}, ${key}, ${client}, ${value}, ${session})
    on conflict (owner, key) do update set
      value = excluded.value, version = nextval('state_version'), update_time = clock_timestamp()
    returning ${entryColumns}`.execute(trx);
  return rows[0] as StateEntry;
}

const entryColumns = sql`key, version, octet_length(value) as "sizeBytes", update_time as "updateTime"`;

/** Deletes a value. Returns false when it was missing. */
export async function deleteStateValue(trx: Transaction, { owner, key }: StateKey): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("state_value")
    .where("owner", "=", Buffer.from(owner))
    .where("key", "=", key)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Lists the keys that start with the prefix, in the order of their bytes. */
export async function listStateKeys(
  db: Db,
  { owner, prefix, limit }: { owner: Uint8Array; prefix: string; limit: number },
): Promise<string[]> {
  const entries = await listStateEntries(db, { owner, prefix, after: undefined, limit });
  return entries.map(({ key }) => key);
}

/** Lists the entries after a key whose keys start with the prefix, in the order of the bytes of their keys. */
export async function listStateEntries(
  db: Db,
  { owner, prefix, after = "", limit }: { owner: Uint8Array; prefix: string; after: string | undefined; limit: number },
): Promise<StateEntry[]> {
  if (!isStorableText(prefix)) {
    return [];
  }
  const { rows } = await sql<StateEntry>`
    select ${entryColumns} from state_value
    where owner = ${Buffer.from(owner)} and starts_with(key, ${prefix}) and key collate "C" > ${after}
    order by key collate "C" limit ${limit}`.execute(db);
  return rows;
}

/** What an owner has. */
export interface StateTotals {
  readonly keys: number;
  /** The bytes of all values. */
  readonly bytes: number;
}

/** Returns what an owner has. Reads all its rows, but not their values. */
export async function readStateTotals(db: Db | Transaction, owner: Uint8Array): Promise<StateTotals> {
  const { rows } = await sql<StateTotals>`
    select count(*)::float8 as keys, coalesce(sum(octet_length(value)), 0)::float8 as bytes
    from state_value where owner = ${Buffer.from(owner)}`.execute(db);
  return rows[0] as StateTotals;
}

/** Locks the values of an owner against other writers that lock them, until the end of the transaction. */
export async function lockStateOwner(trx: Transaction, owner: Uint8Array): Promise<void> {
  const name = `runnel state ${Buffer.from(owner).toString("hex")}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

/**
 * Returns the entries whose key or value contains all words, the newest first, with their values. The case of letters does not matter,
 * as far as the collation of the database knows it. Reads all values of the owner: it is for owners whose size has a limit.
 */
export async function searchStateValues(
  db: Db,
  { owner, words, limit }: { owner: Uint8Array; words: readonly string[]; limit: number },
): Promise<(StateEntry & { readonly value: string })[]> {
  const contains = words.map((word) => {
    // A value is JSON: a quote in a text stands there behind a backslash.
    const written = JSON.stringify(word).slice(1, -1);
    return sql`(position(lower(${word}) in lower(key)) > 0 or position(lower(${written}) in lower(value)) > 0)`;
  });
  const { rows } = await sql<StateEntry & { readonly value: string }>`
    select ${entryColumns}, value from state_value
    where owner = ${Buffer.from(owner)} and ${sql.join(contains, sql` and `)}
    order by version desc limit ${limit}`.execute(db);
  return rows;
}

/** Deletes the values of sessions that are erased or purged, at most `rowsMax` in a statement. */
export async function deleteStateOfSessions(
  db: Db,
  { sessions, rowsMax }: { sessions: readonly string[]; rowsMax: number },
): Promise<void> {
  let rows: number;
  do {
    const { numAffectedRows = 0n } = await sql`
      delete from state_value where (owner, key) in (
        select owner, key from state_value where session = any(${uuidArray(sessions)}::uuid[]) limit ${sql.lit(rowsMax)})`.execute(
      db,
    );
    rows = Number(numAffectedRows);
  } while (rows === rowsMax);
}
