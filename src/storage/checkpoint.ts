// Where each run's driver goes on. Only the newest checkpoint of a run counts.

import { sql } from "kysely";
import { uuidArray } from "./binary-array.ts";
import type { Db, Transaction } from "./database.ts";

export interface Checkpoint {
  readonly turn: number;
  /** The log as far as the checkpoint covers it; what lies beyond belongs to a turn that was not finished. */
  readonly sequence: number;
  /** The driver's own, for it alone to read. */
  readonly state: Uint8Array;
}

export async function saveCheckpoint(trx: Transaction, args: { runId: string; checkpoint: Checkpoint }): Promise<void> {
  const { turn, sequence } = args.checkpoint;
  const state = Buffer.from(args.checkpoint.state);
  await trx
    .insertInto("checkpoint")
    .values({ run_id: args.runId, turn, sequence, state })
    .onConflict((conflict) => conflict.column("run_id").doUpdateSet({ turn, sequence, state }))
    .execute();
}

export async function readCheckpoint(db: Db | Transaction, runId: string): Promise<Checkpoint | undefined> {
  return await db
    .selectFrom("checkpoint")
    .select(["turn", "sequence", "state"])
    .where("run_id", "=", runId)
    .executeTakeFirst();
}

export async function deleteCheckpoints(db: Db | Transaction, runs: readonly string[]): Promise<void> {
  await sql`delete from checkpoint where run_id = any(${uuidArray(runs)}::uuid[])`.execute(db);
}

/** Drops those of runs that ended a while ago, the oldest runs first; returns how many. */
export async function deleteIdleCheckpoints(
  db: Db,
  args: { endedMs: number; createdBefore: string; limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from checkpoint where run_id in (
      select checkpoint.run_id from checkpoint join run on run.id = checkpoint.run_id
      where checkpoint.run_id < ${args.createdBefore}
        and run.end_time < now() - ${args.endedMs} * interval '1 millisecond'
      order by checkpoint.run_id limit ${args.limit})`.execute(db);
  return Number(numAffectedRows);
}
