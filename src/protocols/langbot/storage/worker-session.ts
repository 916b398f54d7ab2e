// Sessions of worker processes. A session lasts as long as its process, and is marked as seen while it listens or polls.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { WorkerSessionTable } from "./schema.ts";

/** A new session. */
export interface NewWorkerSession {
  readonly id: string;
  readonly client: string;
  readonly workerId: string;
  /** The runners whose runs the worker takes. */
  readonly runnerIds: readonly string[];
}

/** Inserts a session. */
export async function insertWorkerSession(db: Db | Transaction, session: NewWorkerSession): Promise<void> {
  await db
    .insertInto("worker_session")
    .values({
      id: session.id,
      client: session.client,
      worker_id: session.workerId,
      runner_ids: [...session.runnerIds],
    })
    .execute();
}

/** Returns a session; undefined when it is unknown or of another client. */
export async function findWorkerSession(
  db: Db | Transaction,
  { client, id }: { client: string; id: string },
): Promise<Selectable<WorkerSessionTable> | undefined> {
  return await db
    .selectFrom("worker_session")
    .select(["id", "client", "worker_id", "runner_ids", "create_time", "seen_time"])
    .where("client", "=", client)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Marks a session as seen, because its worker listens. */
export async function touchWorkerSession(db: Db, id: string): Promise<void> {
  await db.updateTable("worker_session").set({ seen_time: sql<Date>`now()` }).where("id", "=", id).execute();
}
