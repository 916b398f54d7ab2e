// The rows of schedules.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText, storableText } from "../../platform/database/database.ts";
import type { ScheduleTable } from "./schema.ts";

/** A row of a schedule. */
export type ScheduleRow = Selectable<ScheduleTable>;
/** A row of a schedule whose time has come. */
export type DueSchedule = ScheduleRow & { readonly next_time: Date };

const scheduleColumns = [
  "id",
  "client",
  "name",
  "spec",
  "next_time",
  "last_time",
  "last_run_id",
  "last_error",
  "create_time",
] as const;

interface ScheduleName {
  readonly client: string;
  readonly name: string;
}

/** Inserts a schedule. Returns undefined when the client has one of that name. */
export async function insertSchedule(
  db: Db,
  row: ScheduleName & { readonly id: string; readonly spec: Uint8Array; readonly nextTime: Date },
): Promise<ScheduleRow | undefined> {
  const { nextTime: next_time, spec, ...rest } = row;
  return await db
    .insertInto("schedule")
    .values({ ...rest, spec: Buffer.from(spec), next_time })
    .onConflict((conflict) => conflict.columns(["client", "name"]).doNothing())
    .returning(scheduleColumns)
    .executeTakeFirst();
}

/** Returns a schedule; undefined when the client has none of that name. */
export async function findSchedule(db: Db, { client, name }: ScheduleName): Promise<ScheduleRow | undefined> {
  return isStorableText(name)
    ? await schedules(db).where("client", "=", client).where("name", "=", name).executeTakeFirst()
    : undefined;
}

/** Returns the schedules of a client after a name, in the order of the names. */
export async function listSchedules(
  db: Db,
  { client, after, limit }: { client: string; after: string | undefined; limit: number },
): Promise<ScheduleRow[]> {
  return await schedules(db)
    .where("client", "=", client)
    .where(sql`name collate "C"`, ">", after ?? "")
    .orderBy(sql`name collate "C"`)
    .limit(limit)
    .execute();
}

/** Counts the schedules of a client. */
export async function countSchedules(db: Db, client: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from schedule where client = ${client}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes a schedule. Returns false when there was none. */
export async function deleteSchedule(db: Db, { client, name }: ScheduleName): Promise<boolean> {
  if (!isStorableText(name)) {
    return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom("schedule")
    .where("client", "=", client)
    .where("name", "=", name)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Returns schedules whose time has come, the longest due first. */
export async function listDueSchedules(db: Db, limit: number): Promise<DueSchedule[]> {
  return await schedules(db)
    .where("next_time", "<=", sql<Date>`now()`)
    .orderBy("next_time")
    .limit(sql.lit(limit))
    .$narrowType<{ next_time: Date }>()
    .execute();
}

/** Takes the next time of a schedule away. Returns undefined when the client has none of that name. */
export async function pauseSchedule(db: Db, { client, name }: ScheduleName): Promise<ScheduleRow | undefined> {
  return isStorableText(name)
    ? await db
        .updateTable("schedule")
        .set({ next_time: null })
        .where("client", "=", client)
        .where("name", "=", name)
        .returning(scheduleColumns)
        .executeTakeFirst()
    : undefined;
}

/** Gives a paused schedule its next time. Returns undefined when it is not paused. */
export async function resumeSchedule(db: Db, id: string, nextTime: Date): Promise<ScheduleRow | undefined> {
  return await db
    .updateTable("schedule")
    .set({ next_time: nextTime })
    .where("id", "=", id)
    .where("next_time", "is", null)
    .returning(scheduleColumns)
    .executeTakeFirst();
}

/** Writes what a time gave, and the next time unless it was paused meanwhile; does nothing when another replica has done so. */
export async function advanceSchedule(
  db: Db,
  done: { id: string; time: Date; nextTime: Date; runId: string | undefined; error: string | undefined },
): Promise<void> {
  await db
    .updateTable("schedule")
    .set({
      next_time: sql<Date | null>`case when next_time is null then null else ${done.nextTime}::timestamptz end`,
      last_time: done.time,
      last_run_id: done.runId ?? null,
      last_error: done.error === undefined ? null : storableText(done.error),
    })
    .where("id", "=", done.id)
    .where(({ eb, or }) => or([eb("next_time", "=", done.time), eb("next_time", "is", null)]))
    .execute();
}

/** Writes a run that was started by hand as the last one, unless a later time or run is known. */
export async function recordTrigger(db: Db, { id, runId }: { id: string; runId: string }): Promise<void> {
  await db
    .updateTable("schedule")
    .from("run")
    .set(({ ref }) => ({ last_time: ref("run.create_time"), last_run_id: ref("run.id"), last_error: null }))
    .where("schedule.id", "=", id)
    .where("run.id", "=", runId)
    .where(({ eb, or }) => or([eb("last_time", "is", null), eb("last_time", "<=", eb.ref("run.create_time"))]))
    .execute();
}

function schedules(db: Db) {
  return db.selectFrom("schedule").select(scheduleColumns);
}
