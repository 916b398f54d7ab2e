// Where the changes of runs are pushed. The pushes themselves are rows of the outbox of callbacks, written with the change.

import { sql } from "kysely";
import type { PushConfig } from "../../platform/base/pushes.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { CallbackStatus } from "./schema.ts";

/** Adds an address to a locked run, or replaces the one with its id. Returns false when the run has `max` others. */
export async function putPushConfig(
  trx: Transaction,
  { runId, max, config }: { runId: string; max: number; config: PushConfig },
): Promise<boolean> {
  const { id, url, token, scheme, credentials } = config;
  const { numAffectedRows = 0n } = await sql`
    insert into push_config (run_id, session, id, url, token, scheme, credentials)
    select run.id, session, ${id}, ${url}, ${token}, ${scheme}, ${credentials} from run
    where run.id = ${runId}::uuid
      and (select count(*) from push_config where run_id = ${runId}::uuid and id <> ${id}) < ${max}
    on conflict (run_id, id) do update set url = excluded.url, token = excluded.token, scheme = excluded.scheme,
      credentials = excluded.credentials`.execute(trx);
  await sql`update run set has_pushes = true where id = ${runId}::uuid and not has_pushes`.execute(trx);
  return numAffectedRows === 1n;
}

/** Returns the addresses of a run, in the order in which they were added. */
export async function listPushConfigs(db: Db, runId: string): Promise<PushConfig[]> {
  return await db
    .selectFrom("push_config")
    .select(["id", "url", "token", "scheme", "credentials"])
    .where("run_id", "=", runId)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
}

/** Removes an address, with the pushes to it that are not delivered. */
export async function deletePushConfig(db: Db, { runId, id }: { runId: string; id: string }): Promise<void> {
  await db.deleteFrom("push_config").where("run_id", "=", runId).where("id", "=", id).execute();
}

/** Removes the addresses of all runs of a session. */
export async function deletePushConfigsOf(db: Db, session: string): Promise<void> {
  await db.deleteFrom("push_config").where("session", "=", session).execute();
}

/** Writes the pushes of a change of a run, in its transaction; for one address or for all. */
export async function insertPushes(
  trx: Transaction,
  { runId, sequence, status, id }: { runId: string; sequence: number; status: CallbackStatus; id?: string },
): Promise<void> {
  await sql`
    insert into callback (client, session, run_id, sequence, status, base_url, push_config)
    select run.client, run.session, run.id, ${sequence}, ${status}, push_config.url, push_config.key
    from run join push_config on push_config.run_id = run.id
    where run.id = ${runId}::uuid and run.has_pushes and push_config.id = coalesce(${id ?? null}::text, push_config.id)`.execute(
    trx,
  );
}
