// The session rows. A session's public id (`name`) is unique for its client among the sessions that are not deleted. Protocols
// keep hidden sessions for their own runs; these are neither found nor listed here.

import { type Insertable, type Selectable, sql } from "kysely";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import { isUniqueViolation } from "../../platform/database/errors.ts";
import type { RunStatus, SessionTable } from "./schema.ts";

const sessionColumns = [
  "session.id",
  "session.client",
  "session.name",
  "session.agent",
  "session.work_dir",
  "session.callback",
  "session.latest_run_id",
  "session.create_time",
  "session.delete_time",
  "session.hidden",
] as const;

type SessionColumn = (typeof sessionColumns)[number] extends `session.${infer Column extends keyof SessionTable}`
  ? Column
  : never;

/** A row of a session. */
export type SessionRow = Pick<Selectable<SessionTable>, SessionColumn>;

/** A session with the state of its latest run. */
export interface SessionWithRun extends SessionRow {
  readonly run_status: RunStatus | null;
  readonly run_turn: number | null;
  readonly run_terminal: Uint8Array | null;
}

interface SessionName {
  readonly client: string;
  readonly name: string;
}

/** Inserts a session. Returns false when the client has a session of that name. */
export async function insertSession(
  db: Db | Transaction,
  session: {
    id: string;
    client: string;
    name: string;
    agent: Uint8Array;
    workDir: string | undefined;
    callback: Uint8Array | undefined;
    /** The URL for status callbacks; undefined for no callbacks. */
    callbackUrl?: string | undefined;
  },
): Promise<boolean> {
  const { id, client, name, workDir, callback, callbackUrl } = session;
  const values = {
    id,
    client,
    name,
    agent: Buffer.from(session.agent),
    work_dir: workDir ?? null,
    callback: callback === undefined ? null : Buffer.from(callback),
  };
  try {
    if (callbackUrl === undefined) {
      await db.insertInto("session").values(values).execute();
    } else {
      await insertToldSession(db, values, callbackUrl);
    }
    return true;
  } catch (error) {
    if (isUniqueViolation(error, "session_name")) {
      return false;
    }
    throw error;
  }
}

/** Inserts the session and the callback of its creation, also in one statement. */
async function insertToldSession(db: Db | Transaction, values: Insertable<SessionTable>, url: string): Promise<void> {
  await db
    .with("inserted", (query) => query.insertInto("session").values(values).returning(["client", "id"]))
    .insertInto("callback")
    .columns(["client", "session", "sequence", "status", "base_url"])
    .expression(({ selectFrom, lit, val, cast }) =>
      selectFrom("inserted").select([
        "client",
        "id",
        lit(0).as("sequence"),
        sql.lit("created").as("status"),
        cast<string>(val(url), "text").as("base_url"),
      ]),
    )
    .execute();
}

/** Returns a session by its name, with its latest run; undefined when it does not exist. */
export async function findSession(db: Db | Transaction, args: SessionName): Promise<SessionWithRun | undefined> {
  if (!isStorableText(args.name)) {
    return undefined;
  }
  const session = await sessionsWithRun(db)
    .where("session.client", "=", args.client)
    .where("session.name", "=", args.name)
    .executeTakeFirst();
  return visibleOnly(session);
}

/** Returns the sessions of a client, newest first. */
export async function listSessions(
  db: Db,
  args: { client: string; before: string | undefined; limit: number },
): Promise<SessionWithRun[]> {
  // Uses the collation of the index for this list.
  let query = sessionsWithRun(db)
    .where(sql`session.client collate "C"`, "=", args.client)
    .where(sql<boolean>`not session.hidden`)
    .orderBy("session.id", "desc")
    .limit(args.limit);
  if (args.before !== undefined) {
    query = query.where("session.id", "<", args.before);
  }
  return await query.execute();
}

/** Returns a session without its run; undefined when it does not exist. */
export async function findSessionAlone(db: Db, name: SessionName): Promise<SessionRow | undefined> {
  return isStorableText(name.name) ? visibleOnly(await sessionOfName(db, name).executeTakeFirst()) : undefined;
}

/** Returns the session of a run, whose directory the run's tools work in; undefined when the run does not exist. */
export async function findSessionOfRun(
  db: Db,
  runId: string,
): Promise<Pick<SessionRow, "id" | "client" | "name"> | undefined> {
  return await db
    .selectFrom("run")
    .innerJoin("session", "session.id", "run.session")
    .select(["session.id", "session.client", "session.name"])
    .where("run.id", "=", runId)
    .executeTakeFirst();
}

/**
 * Locks and returns a session; undefined when it does not exist. Waits for a transaction that starts a run of it or deletes it.
 */
export async function lockSession(trx: Transaction, name: SessionName): Promise<SessionRow | undefined> {
  if (!isStorableText(name.name)) {
    return undefined;
  }
  return visibleOnly(await sessionOfName(trx, name).forNoKeyUpdate().executeTakeFirst());
}

/**
 * Drops a hidden session. Checked here, because with another condition in the statement the planner may choose another index.
 */
function visibleOnly<T extends SessionRow>(session: T | undefined): T | undefined {
  return session?.hidden === false ? session : undefined;
}

function sessionOfName(db: Db | Transaction, { client, name }: SessionName) {
  return db
    .selectFrom("session")
    .select(sessionColumns)
    .where("client", "=", client)
    .where("name", "=", name)
    .where("delete_time", "is", null);
}

/** Marks a session as deleted. */
export async function markSessionDeleted(trx: Transaction, id: string): Promise<void> {
  await trx.updateTable("session").set({ delete_time: sql<Date>`now()` }).where("id", "=", id).execute();
}

/** Counts the visible sessions, and all active runs, including those of hidden sessions. */
export async function countSessions(db: Db): Promise<{ total: number; active: number }> {
  const { rows } = await sql<{ total: number; active: number }>`
    select (select count(*) from session where delete_time is null and not hidden) as total,
      (select count(*) from run where status in ('queued', 'running', 'waiting')) as active`.execute(db);
  return rows[0] ?? { total: 0, active: 0 };
}

function sessionsWithRun(db: Db | Transaction) {
  return db
    .selectFrom("session")
    .leftJoin("run", "run.id", "session.latest_run_id")
    .select(sessionColumns)
    .select(["run.status as run_status", "run.turn as run_turn", "run.terminal as run_terminal"])
    .where("session.delete_time", "is", null);
}
