// Looks for due work of every kind. In an idle service one statement nearly always finds nothing.

import { sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db } from "../../platform/database/database.ts";
import { millisecondsUntil, serverStart } from "../../platform/database/time.ts";

/** The work that a reaper finds. */
export interface Due {
  /** When the server that answered started. */
  readonly serverStart: string;
  /** How long until the first waiting run is to wake, in milliseconds; null without one. */
  readonly wakesInMs: number | null;
  /** How long until the first queued run may start, in milliseconds; null without one. */
  readonly queueInMs: number | null;
  /** How long until the first callback is to be sent, in milliseconds; null without one. */
  readonly callbackInMs: number | null;
  /** How long until the first schedule is due, in milliseconds; null without one. */
  readonly scheduleInMs: number | null;
  /** Trees of runs that have changed. */
  readonly trees: boolean;
  /** Pending runs, whether their session is free or not. */
  readonly pending: boolean;
  /** How long until the first lease of a replica expires, in milliseconds; null without replicas. */
  readonly leaseInMs: number | null;
  /** Running runs without a replica. */
  readonly orphans: boolean;
  /** Running runs that are past their deadline by more than a margin. */
  readonly overdue: boolean;
}

/** Returns a function that looks for work and locks nothing. Its text is built once: an idle process asks little else. */
export function createFindDue(db: Db, { marginMs }: { marginMs: number }): () => Promise<Due> {
  const question = sql<Due>`
    select ${serverStart} as "serverStart",
      ${millisecondsUntil(sql`(select min(wake_at) from run where status = 'waiting')`)} as "wakesInMs",
      ${millisecondsUntil(sql`(select min(wake_at) from run where status = 'queued')`)} as "queueInMs",
      ${millisecondsUntil(sql`(select min(due_time) from callback where state = 'pending')`)} as "callbackInMs",
      ${millisecondsUntil(sql`(select min(next_time) from schedule)`)} as "scheduleInMs",
      exists (select from tree_check) as trees,
      exists (select from run where status = 'pending') as pending,
      ${millisecondsUntil(sql`(select min(lease_until) from replica)`)} as "leaseInMs",
      exists (
        select from run where status = 'running' and not exists (select from replica where replica.id = run.owner)
      ) as orphans,
      exists (
        select from run where status = 'running' and deadline < now() - ${marginMs} * interval '1 millisecond'
      ) as overdue`.compile(db);
  return async () => {
    const { rows } = await db.executeQuery(question);
    return rows[0] as Due;
  };
}

/** What a replica may take or give away. */
export interface OwnDue {
  readonly owner: string;
  /** The runs that the owner works on. */
  readonly except: readonly string[];
  readonly startedBeforeMs: number;
}

/** Returns whether a run is due for a claim, or the owner has one that it does not work on. */
export async function isDueFor(db: Db, { owner, except, startedBeforeMs }: OwnDue): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select from run where status = 'queued' and wake_at <= now()) or exists (
      select from run where owner = ${owner} and status = 'running' and id <> all(${uuidArray(except)}::uuid[])
        and start_time < now() - ${startedBeforeMs} * interval '1 millisecond'
    ) as is_due`.execute(db);
  return rows[0]?.is_due === true;
}
