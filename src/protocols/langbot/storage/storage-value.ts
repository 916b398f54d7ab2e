// Blobs that runs keep, written in pieces. A value names its version. Pieces of another version belong to a value that a run is
// still writing, or has given up. Each run writes its own version, so it never sees unfinished pieces of another run.

import { sql } from "kysely";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** The owner of the storage, a key of `runners/scope.ts`, and the key of the value. */
export interface StorageKey {
  readonly owner: Uint8Array;
  readonly key: string;
}

/** A range of a value. */
export interface StorageRange {
  readonly content: Uint8Array;
  /** The size of the whole value. */
  readonly sizeBytes: number;
}

/** Returns the available bytes of a range; undefined when the value is missing. */
export async function readStorageRange(
  db: Db,
  { owner, key, offset, bytesMax }: StorageKey & { readonly offset: number; readonly bytesMax: number },
): Promise<StorageRange | undefined> {
  const { rows } = await sql<{ size_bytes: number; start_byte: number | null; content: Uint8Array | null }>`
    select value.size_bytes, piece.start_byte, piece.content
    from storage_value as value left join storage_piece as piece
      on piece.owner = value.owner and piece.key = value.key and piece.version = value.version
      and piece.start_byte < ${offset}::int8 + ${bytesMax}::int8
      and piece.start_byte + octet_length(piece.content) > ${offset}::int8
    where value.owner = ${Buffer.from(owner)} and value.key = ${key}
    order by piece.start_byte`.execute(db);
  const [first] = rows;
  if (first === undefined) {
    return undefined;
  }
  const parts = rows.map(({ start_byte, content }) => {
    const start = start_byte ?? 0;
    return (content ?? new Uint8Array()).subarray(Math.max(0, offset - start), Math.max(0, offset + bytesMax - start));
  });
  return { content: Buffer.concat(parts), sizeBytes: first.size_bytes };
}

/** Locks the value against other writers until the end of the transaction. */
export async function lockStorageValue(trx: Transaction, { owner, key }: StorageKey): Promise<void> {
  const name = `runnel storage ${Buffer.from(owner).toString("hex")} ${key}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

/** The version of a value that a run has written. */
export interface StorageVersion {
  readonly version: string;
  /** The offset of the next piece. */
  readonly end: number;
  readonly pieces: number;
  /** True when the version is finished and is the value. */
  readonly isFinished: boolean;
}

/**
 * Returns the version that a run writes, or else its finished version. Undefined when it has neither, or when a version of
 * another run replaced it.
 */
export async function findStorageVersion(
  trx: Transaction,
  { owner, key, runId }: StorageKey & { readonly runId: string },
): Promise<StorageVersion | undefined> {
  const { rows } = await sql<StorageVersion>`
    select piece.version, max(piece.start_byte + octet_length(piece.content)) as end, count(*) as pieces,
      piece.version is not distinct from (
        select version from storage_value where owner = ${Buffer.from(owner)} and key = ${key}) as "isFinished"
    from storage_piece as piece
    where piece.owner = ${Buffer.from(owner)} and piece.key = ${key} and piece.run_id = ${runId}
    group by piece.version order by "isFinished", piece.version desc limit 1`.execute(trx);
  return rows[0];
}

/** Deletes the run's unfinished pieces. Returns the name of a new version: later names are higher. */
export async function beginStorageVersion(
  trx: Transaction,
  { owner, key, runId, nowMs }: StorageKey & { readonly runId: string; readonly nowMs: number },
): Promise<string> {
  await sql`
    delete from storage_piece where owner = ${Buffer.from(owner)} and key = ${key} and run_id = ${runId}
      and not exists (select from storage_value as value
        where value.owner = storage_piece.owner and value.key = storage_piece.key
          and value.version = storage_piece.version)`.execute(trx);
  return newUuid(nowMs);
}

/** Inserts a piece. */
export async function insertStoragePiece(
  trx: Transaction,
  piece: StorageKey & {
    readonly version: string;
    readonly runId: string;
    readonly offset: number;
    readonly content: Uint8Array;
  },
): Promise<void> {
  await trx
    .insertInto("storage_piece")
    .values({
      owner: Buffer.from(piece.owner),
      key: piece.key,
      version: piece.version,
      run_id: piece.runId,
      start_byte: piece.offset,
      content: Buffer.from(piece.content),
    })
    .execute();
}

/** Whether a version has exactly this piece at this offset. */
export async function hasStoragePiece(
  trx: Transaction,
  piece: StorageKey & { readonly version: string; readonly offset: number; readonly content: Uint8Array },
): Promise<boolean> {
  const { rows } = await sql`
    select from storage_piece where owner = ${Buffer.from(piece.owner)} and key = ${piece.key}
      and version = ${piece.version} and start_byte = ${piece.offset} and content = ${Buffer.from(piece.content)}
    `.execute(trx);
  return rows.length > 0;
}

/** Makes a version the value, and deletes the version before. */
export async function finishStorageValue(
  trx: Transaction,
  value: StorageKey & { readonly client: string; readonly version: string; readonly sizeBytes: number },
): Promise<void> {
  const owner = Buffer.from(value.owner);
  const { key, client, version, sizeBytes } = value;
  await sql`
    delete from storage_piece using storage_value as old
    where old.owner = ${owner} and old.key = ${key} and old.version <> ${version}::uuid
      and storage_piece.owner = old.owner and storage_piece.key = old.key and storage_piece.version = old.version
    `.execute(trx);
  await trx
    .insertInto("storage_value")
    .values({ owner, key, client, version, size_bytes: sizeBytes })
    .onConflict((conflict) =>
      conflict
        .columns(["owner", "key"])
        .doUpdateSet({ version, size_bytes: sizeBytes, update_time: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}

/** Deletes a value. Returns false when it was missing. Pieces that a run is still writing stay. */
export async function deleteStorageValue(trx: Transaction, { owner, key }: StorageKey): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from storage_value where owner = ${Buffer.from(owner)} and key = ${key} returning owner, key, version
    ), pieces as (
      delete from storage_piece using gone where storage_piece.owner = gone.owner and storage_piece.key = gone.key
        and storage_piece.version = gone.version
    )
    select from gone`.execute(trx);
  return rows.length > 0;
}

/** Lists keys in the order of their bytes. */
export async function listStorageKeys(
  db: Db,
  { owner, limit }: { owner: Uint8Array; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from storage_value where owner = ${Buffer.from(owner)} order by key collate "C" limit ${limit}`.execute(
    db,
  );
  return rows.map(({ key }) => key);
}

/**
 * Deletes pieces that are older than `ageMs` and belong neither to a finished value nor to one that still grows, oldest first. Those of
 * finished values have no age from then on, so no later call reads them. Returns how many pieces of both kinds it found.
 */
export async function deleteStalePieces(db: Db, args: { ageMs: number; limit: number }): Promise<number> {
  const cutoff = sql`now() - ${args.ageMs} * interval '1 millisecond'`;
  const isFound = sql`piece.owner = found.owner and piece.key = found.key and piece.version = found.version
    and piece.start_byte = found.start_byte`;
  const { rows } = await sql<{ found: number }>`
    with found as materialized (
      select owner, key, version, start_byte, exists (select from storage_value as value
        where value.owner = piece.owner and value.key = piece.key and value.version = piece.version) as is_finished
      from storage_piece as piece
      where create_time < ${cutoff}
        and not exists (select from storage_piece as later
          where later.owner = piece.owner and later.key = piece.key and later.version = piece.version
            and later.create_time >= ${cutoff} and later.create_time < 'infinity')
      order by create_time limit ${sql.lit(args.limit)}
    ), kept as (
      update storage_piece as piece set create_time = 'infinity' from found where found.is_finished and ${isFound}
    ), deleted as (
      delete from storage_piece as piece using found where not found.is_finished and ${isFound}
    )
    select count(*) as found from found`.execute(db);
  return rows[0]?.found ?? 0;
}
