// The artifacts of runs and of their events. An id belongs to a client. The first run that names it owns it, even before the
// artifact exists.

import { type Selectable, sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import type { ArtifactTable } from "./schema.ts";

/** Claims the id for the run, if it is free. The claim does not say which other run owns it. */
export async function claimArtifact(
  db: Db | Transaction,
  { client, artifactId, runId }: { client: string; artifactId: string; runId: string },
): Promise<ArtifactClaim> {
  await sql`
    insert into artifact (client, artifact_id, run_id, runner_id, artifact_type, metadata, is_complete)
    select ${client}, ${artifactId}, run_id, runner_id, '', '{}', false from remote_run where run_id = ${runId}
    on conflict do nothing`.execute(db);
  const row = await db
    .selectFrom("artifact")
    .select(["run_id", "sha256", "is_complete"])
    .where("client", "=", client)
    .where("artifact_id", "=", artifactId)
    .executeTakeFirst();
  return row?.run_id === runId
    ? { isMine: true, isComplete: row.is_complete, sha256: row.sha256 }
    : { isMine: false, isComplete: false, sha256: null };
}

/** The claim of a run to an id. */
export interface ArtifactClaim {
  readonly isMine: boolean;
  /** True when the id already has an artifact. */
  readonly isComplete: boolean;
  readonly sha256: string | null;
}

/** A new artifact. */
export interface NewArtifact {
  readonly client: string;
  readonly artifactId: string;
  readonly runId: string;
  readonly runnerId: string;
  /** The conversation whose runs can read it too. */
  readonly scope: Uint8Array | undefined;
  readonly artifactType: string;
  readonly mimeType: string | undefined;
  readonly name: string | undefined;
  readonly sizeBytes: number | undefined;
  readonly sha256: string | undefined;
  /** The metadata as a JSON object. */
  readonly metadata: string;
  readonly content: Uint8Array | undefined;
  /** The sender; undefined means `runner`. */
  readonly source?: "event" | "runner" | undefined;
  /** How long it is kept; undefined to keep it as long as its client's data. */
  readonly keptMs?: number | undefined;
}

/**
 * Stores an artifact under an id that is free or the run's own. `same`: it was stored with the same hash, and stays as it is.
 * `conflict`: the run has stored something else there. `taken`: the id belongs to another run.
 */
export async function putArtifact(
  trx: Transaction,
  artifact: NewArtifact,
): Promise<"stored" | "same" | "conflict" | "taken"> {
  const { client, artifactId, runId, runnerId } = artifact;
  const scope = artifact.scope === undefined ? null : Buffer.from(artifact.scope);
  const content = artifact.content === undefined ? null : Buffer.from(artifact.content);
  const { rows } = await sql`
    insert into artifact (client, artifact_id, run_id, runner_id, scope, artifact_type, mime_type, name, size_bytes, sha256,
      metadata, content, is_complete, source, create_time, expire_time)
    values (${client}, ${artifactId}, ${runId}, ${runnerId}, ${scope}, ${artifact.artifactType},
      ${artifact.mimeType ?? null}, ${artifact.name ?? null}, ${artifact.sizeBytes ?? null}, ${artifact.sha256 ?? null},
      ${artifact.metadata}, ${content}, true, ${artifact.source ?? "runner"}, clock_timestamp(),
      clock_timestamp() + ${artifact.keptMs ?? null}::float8 * interval '1 millisecond')
    on conflict (client, artifact_id) do update set scope = excluded.scope, artifact_type = excluded.artifact_type,
      mime_type = excluded.mime_type, name = excluded.name, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
      metadata = excluded.metadata, content = excluded.content, is_complete = true, source = excluded.source, create_time = excluded.create_time,
      expire_time = excluded.expire_time
    where artifact.run_id = excluded.run_id and not artifact.is_complete
    returning true`.execute(trx);
  return rows.length > 0 ? "stored" : await compare(trx, artifact);
}

async function compare(
  trx: Transaction,
  { client, artifactId, runId, sha256 }: NewArtifact,
): Promise<"same" | "conflict" | "taken"> {
  const row = await trx
    .selectFrom("artifact")
    .select(["run_id", "sha256"])
    .where("client", "=", client)
    .where("artifact_id", "=", artifactId)
    .executeTakeFirst();
  if (row?.run_id !== runId) {
    return "taken";
  }
  return row.sha256 === (sha256 ?? null) ? "same" : "conflict";
}

/** A stored artifact without its content. */
export type ArtifactRow = Omit<Selectable<ArtifactTable>, "content" | "is_complete" | "client">;

interface ArtifactReader {
  readonly client: string;
  readonly artifactId: string;
  readonly runId: string;
  /** The conversation of the run that reads. */
  readonly scope: Uint8Array | undefined;
}

/** Returns an artifact of the run or of its conversation. Undefined when it is unknown or expired. */
export async function findArtifact(db: Db, reader: ArtifactReader): Promise<ArtifactRow | undefined> {
  if (!isStorableText(reader.artifactId)) {
    return undefined;
  }
  const { rows } = await sql<ArtifactRow>`select ${columns} from artifact where ${isVisibleTo(reader)}`.execute(db);
  return rows[0];
}

/** A range of an artifact's content. */
export interface ArtifactRange {
  readonly mime_type: string | null;
  readonly size_bytes: number;
  readonly content: Uint8Array;
}

/** Returns the available bytes of a range. Undefined when the artifact is unknown or has no content. */
export async function readArtifactRange(
  db: Db,
  { offset, bytesMax, ...reader }: ArtifactReader & { readonly offset: number; readonly bytesMax: number },
): Promise<ArtifactRange | undefined> {
  if (!isStorableText(reader.artifactId)) {
    return undefined;
  }
  // Positions of substring have 32 bits, and no content is that long.
  const { rows } = await sql<ArtifactRange>`
    select mime_type, octet_length(content) as size_bytes,
      substring(content from least(${offset}::int8, 2147483646)::int + 1 for ${bytesMax}::int) as content
    from artifact where ${isVisibleTo(reader)} and content is not null`.execute(db);
  return rows[0];
}

/** Lists the artifacts of these runs in the conversation, the oldest first. */
export async function listArtifactsOfRuns(
  db: Db,
  { scope, runs, limit }: { scope: Uint8Array; runs: readonly string[]; limit: number },
): Promise<ArtifactRow[]> {
  const { rows } = await sql<ArtifactRow>`
    select ${columns} from artifact where run_id = any(${uuidArray(runs)}::uuid[]) and scope = ${Buffer.from(scope)}
      and ${isKept} order by create_time, artifact_id limit ${limit}`.execute(db);
  return rows;
}

/** Returns the content of an artifact of a run; undefined without one, and for a run of another client. */
export async function readRunArtifact(
  db: Db,
  { client, runId, artifactId }: { client: string; runId: string; artifactId: string },
): Promise<Uint8Array | undefined> {
  if (!isStorableText(artifactId)) {
    return undefined;
  }
  const { rows } = await sql<{ readonly content: Uint8Array }>`
    select content from artifact where client = ${client} and artifact_id = ${artifactId} and run_id = ${runId}::uuid
      and content is not null and ${isKept}`.execute(db);
  return rows[0]?.content;
}

/** Deletes expired artifacts, and ids without an artifact after a day. Returns the number of deleted rows. */
export async function deleteExpiredArtifacts(db: Db, args: { limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from artifact where (client, artifact_id) in (
      select client, artifact_id from artifact
      where expire_time <= now() or (not is_complete and create_time < now() - interval '1 day')
      limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}

const columns = sql.join(
  [
    "artifact_id",
    "run_id",
    "runner_id",
    "scope",
    "artifact_type",
    "mime_type",
    "name",
    "size_bytes",
    "sha256",
    "metadata",
    "source",
    "create_time",
    "expire_time",
  ].map((name) => sql.ref(name)),
);

const isKept = sql`is_complete and (expire_time is null or expire_time > clock_timestamp())`;

function isVisibleTo({ client, artifactId, runId, scope }: ArtifactReader) {
  const conversation = scope === undefined ? null : Buffer.from(scope);
  return sql`client = ${client} and artifact_id = ${artifactId} and ${isKept}
    and (run_id = ${runId} or scope = ${conversation}::bytea)`;
}
