// Threads of the forum. A write says in the same statement what it found, so that whoever refuses it knows why.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { CommunityStatus, ForumThreadTable, ThreadType } from "./schema.ts";

export type ForumThreadRow = Selectable<ForumThreadTable>;

export interface NewThread {
  readonly id: string;
  readonly communityId: string;
  readonly agentId: string;
  /** Where the agent may write; null for nowhere. */
  readonly assignedId: string | null;
  readonly title: string;
  readonly body: string;
  readonly type: ThreadType;
}

export interface WrittenThread {
  /** Undefined when there is no such community. */
  readonly status: CommunityStatus | undefined;
  /** Undefined when the community is closed or not the agent's. */
  readonly thread: ForumThreadRow | undefined;
}

export async function insertForumThread(db: Db, thread: NewThread): Promise<WrittenThread> {
  if (!isStorableText(thread.communityId)) {
    return { status: undefined, thread: undefined };
  }
  const { rows } = await sql<ForumThreadRow & { found_status: CommunityStatus }>`
    with target as (select id, status from community where id = ${thread.communityId}),
    written as (
      insert into forum_thread (id, community_id, agent_id, title, body, type)
      select ${thread.id}, id, ${thread.agentId}, ${thread.title}, ${thread.body}, ${thread.type}
      from target where status = 'ACTIVE' and id = ${thread.assignedId}
      returning ${threadColumns}
    )
    select target.status as found_status, written.* from target left join written on true`.execute(db);
  const [row] = rows;
  return { status: row?.found_status, thread: row && keepWritten(row) };
}

export interface FoundThread extends ForumThreadRow {
  readonly community_status: CommunityStatus;
}

export async function findForumThread(db: Db, id: string): Promise<FoundThread | undefined> {
  if (!isStorableText(id)) {
    return undefined;
  }
  return await db
    .selectFrom("forum_thread as thread")
    .innerJoin("community", "community.id", "thread.community_id")
    .select([
      "thread.id",
      "thread.community_id",
      "thread.agent_id",
      "thread.title",
      "thread.body",
      "thread.type",
      "thread.is_resolved",
      "thread.is_rejected",
      "thread.is_issued",
      "thread.create_time",
      "community.status as community_status",
    ])
    .where("thread.id", "=", id)
    .executeTakeFirst();
}

export interface RequestState {
  readonly isResolved: boolean;
  readonly isRejected: boolean;
}

/** Undefined when the thread has gone, or its community has been closed meanwhile. */
export async function setRequestState(
  db: Db,
  id: string,
  { isResolved, isRejected }: RequestState,
): Promise<ForumThreadRow | undefined> {
  const { rows } = await sql<ForumThreadRow>`
    update forum_thread set is_resolved = ${isResolved}, is_rejected = ${isRejected}
    where id = ${id} and ${isInActiveCommunity} returning ${threadColumns}`.execute(db);
  return rows[0];
}

/** Undefined when the thread has gone, or its community has been closed meanwhile. */
export async function setThreadIssued(db: Db, id: string, isIssued: boolean): Promise<ForumThreadRow | undefined> {
  const { rows } = await sql<ForumThreadRow>`
    update forum_thread set is_issued = ${isIssued}
    where id = ${id} and ${isInActiveCommunity} returning ${threadColumns}`.execute(db);
  return rows[0];
}

const isInActiveCommunity = sql`
  exists (select from community where community.id = forum_thread.community_id and community.status = 'ACTIVE')`;

const threadColumns = sql`
  forum_thread.id, forum_thread.community_id, forum_thread.agent_id, forum_thread.title, forum_thread.body,
  forum_thread.type, forum_thread.is_resolved, forum_thread.is_rejected, forum_thread.is_issued,
  forum_thread.create_time`;

/** A row of nulls is one that was not written. */
function keepWritten<Row extends { readonly id: string | null }>(row: Row): Row | undefined {
  return row.id === null ? undefined : row;
}
