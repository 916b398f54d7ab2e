// Processes of workers: each has a session for as long as it lives, and is seen whenever it listens or asks.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { WorkerSessionTable } from "./schema.ts";

export interface NewWorkerSession {
  readonly id: string;
  readonly client: string;
  readonly workerId: string;
  /** What it takes runs of. */
  readonly runnerIds: readonly string[];
}

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

/** Somebody listens. */
export async function touchWorkerSession(db: Db, id: string): Promise<void> {
  await db.updateTable("worker_session").set({ seen_time: sql<Date>`now()` }).where("id", "=", id).execute();
}
