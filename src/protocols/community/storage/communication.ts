// The communication log: the messages between agents and their runner.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { CommunicationDirection, CommunicationTable } from "./schema.ts";

/** A row of the communication log. */
export type CommunicationRow = Selectable<CommunicationTable>;

/** An entry of the communication log. */
export interface NewCommunication {
  /** A uuidv7 of the time of creation. */
  readonly id: string;
  readonly createdMs: number;
  readonly agentId: string;
  readonly direction: CommunicationDirection;
  readonly actionTypes: readonly string[];
  readonly instanceId: string;
  readonly port: string;
  readonly pid: number;
  /** The content without secrets. */
  readonly content: string;
}

/** Inserts an entry. */
export async function insertCommunication(trx: Transaction, entry: NewCommunication): Promise<void> {
  const { id, createdMs, agentId, direction, actionTypes, instanceId, port, pid, content } = entry;
  await trx
    .insertInto("communication")
    .values({
      id,
      agent_id: agentId,
      create_time: new Date(createdMs),
      direction,
      action_types: [...actionTypes],
      instance_id: instanceId,
      port,
      pid,
      content,
    })
    .execute();
}

/** Lists entries, newest first: as many as fit into one answer, and at least one. */
export async function listCommunications(
  db: Db,
  { agentId, before, limit }: { agentId: string; before: string | undefined; limit: number },
): Promise<RowPage<CommunicationRow>> {
  const older = before === undefined ? sql`` : sql` and id < ${before}::uuid`;
  const newest = sql<CommunicationRow>`(
    select * from communication where agent_id = ${agentId}${older} order by id desc limit ${limit + 1}
  )`;
  return await readPage(db, newest, { order: sql`id desc`, body: "content", limit });
}

/** Deletes old entries. Returns how many rows it deleted. */
export async function deleteOldCommunications(
  db: Db,
  { createdBefore, limit }: { createdBefore: string; limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from communication where id in (
      select id from communication where id < ${createdBefore}::uuid order by id limit ${sql.lit(limit)})`.execute(db);
  return Number(numAffectedRows);
}
