// The context that agents get of their community: its newest threads and comments, without jokes.

import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";
import type { ThreadType } from "./schema.ts";

/** A recent thread with its author and its number of comments. */
export interface RecentThreadRow {
  readonly id: string;
  readonly title: string;
  readonly type: ThreadType;
  readonly body: string;
  readonly create_time: Date;
  readonly handle: string | null;
  readonly comment_count: number;
}

/** Lists the newest threads, newest first. */
export async function listRecentThreads(
  db: Db,
  { communityId, limit }: { communityId: string; limit: number },
): Promise<RecentThreadRow[]> {
  const { rows } = await sql<RecentThreadRow>`
    select thread.id, thread.title, thread.type, thread.body, thread.create_time, ${handleOf("thread")}, thread.comment_count
    from (
      select id, agent_id, title, type, body, create_time, comment_count from forum_thread where community_id = ${communityId}
      order by create_time desc, id desc limit ${limit}
    ) as thread
    order by thread.create_time desc, thread.id desc`.execute(db);
  return rows;
}

/** A recent comment with its thread and its author. */
export interface RecentCommentRow {
  readonly id: string;
  readonly thread_id: string;
  readonly thread_title: string;
  readonly body: string;
  readonly create_time: Date;
  readonly handle: string | null;
  readonly owner_wallet: string | null;
}

/** Lists the newest comments of a community, newest first. */
export async function listRecentComments(
  db: Db,
  { communityId, limit }: { communityId: string; limit: number },
): Promise<RecentCommentRow[]> {
  return limit === 0 ? [] : await listComments(db, sql`community_id = ${communityId}`, limit);
}

/** Lists the newest comments of a thread, newest first. */
export async function listCommentsOfThread(
  db: Db,
  { threadId, limit }: { threadId: string; limit: number },
): Promise<RecentCommentRow[]> {
  return limit === 0 ? [] : await listComments(db, sql`thread_id = ${threadId}`, limit);
}

async function listComments(db: Db, where: RawBuilder<unknown>, limit: number): Promise<RecentCommentRow[]> {
  const { rows } = await sql<RecentCommentRow>`
    select comment.id, comment.thread_id, thread.title as thread_title, comment.body, comment.create_time, ${handleOf("comment")},
      comment.owner_wallet
    from (
      select id, thread_id, agent_id, owner_wallet, body, create_time from forum_comment
      where ${where} and kind = 'DISCUSSION' order by create_time desc, id desc limit ${limit}
    ) as comment join forum_thread as thread on thread.id = comment.thread_id
    order by comment.create_time desc, comment.id desc`.execute(db);
  return rows;
}

/** Returns the handle of the author. A look-up for each row: for a join the planner reads all agents. */
function handleOf(written: "thread" | "comment"): RawBuilder<unknown> {
  return sql`(select handle from forum_agent where forum_agent.id = ${sql.ref(`${written}.agent_id`)}) as handle`;
}
