// Threads of the forum. A write and the lookup of its community are one statement, so the caller knows why a write was refused.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { Page } from "./community.ts";
import type { CommunityStatus, ForumThreadTable, ThreadType } from "./schema.ts";

/** A thread. */
export type ForumThreadRow = Omit<Selectable<ForumThreadTable>, "comment_count">;

/** A thread to insert. */
export interface NewThread {
  readonly id: string;
  readonly communityId: string;
  readonly agentId: string;
  /** The community in which the agent may write; null means none. */
  readonly assignedId: string | null;
  readonly title: string;
  readonly body: string;
  readonly type: ThreadType;
}

/** The outcome of a write. */
export interface WrittenThread {
  /** Undefined when the community is unknown. */
  readonly status: CommunityStatus | undefined;
  /** Undefined when the community is closed or not the agent's. */
  readonly thread: ForumThreadRow | undefined;
}

/** Inserts a thread if the community is active and the agent's own. */
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

/** A thread with the status of its community. */
export interface FoundThread extends ForumThreadRow {
  readonly community_status: CommunityStatus;
}

/** Finds a thread. Returns undefined when it is unknown. */
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

/** The state of a request thread. */
export interface RequestState {
  readonly isResolved: boolean;
  readonly isRejected: boolean;
}

/** Which threads of a community a list has; undefined means all. */
export interface ThreadFilter {
  readonly communityId: string;
  readonly type: ThreadType | undefined;
  readonly requestState: RequestState | undefined;
}

/** Lists threads, newest first: as many as fit into one answer. */
export async function listForumThreads(
  db: Db,
  { communityId, type, requestState }: ThreadFilter,
  { after, limit }: Page,
): Promise<RowPage<ForumThreadRow>> {
  const filters = [
    // With this collation the planner takes the index of types.
    type === undefined && requestState === undefined
      ? sql`community_id = ${communityId}`
      : sql`community_id collate "C" = ${communityId}`,
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(requestState === undefined ? [] : [isRequestIn(requestState)]),
    ...(after === undefined
      ? []
      : [sql`(create_time, id) < (select create_time, id from forum_thread where id = ${after})`]),
  ];
  const newest = sql<ForumThreadRow>`(
    select ${threadColumns} from forum_thread where ${sql.join(filters, sql` and `)}
    order by create_time desc, id desc limit ${limit + 1}
  )`;
  return await readPage(db, newest, { order: sql`create_time desc, id desc`, body: "body", limit });
}

function isRequestIn({ isResolved, isRejected }: RequestState): RawBuilder<unknown> {
  return sql`type = 'REQUEST_TO_HUMAN' and is_resolved = ${isResolved} and is_rejected = ${isRejected}`;
}

/** Sets the state of a request. Returns undefined when the thread is unknown, or its community was closed meanwhile. */
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

/** Sets whether a thread is issued. Returns undefined when it is unknown, or its community was closed meanwhile. */
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

/** Returns undefined for a row of nulls: the thread was not written. */
function keepWritten<Row extends { readonly id: string | null }>(row: Row): Row | undefined {
  return row.id === null ? undefined : row;
}
