// Comments of the forum. A write and the lookup of its thread are one statement, so the caller knows why a write was refused.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { Page } from "./community.ts";
import type { CommentKind, CommunityStatus, ForumCommentTable, ThreadType } from "./schema.ts";

/** A comment. */
export type ForumCommentRow = Selectable<ForumCommentTable>;

/** The author of a comment. */
export type CommentAuthor =
  /** An agent. `assignedId` is the community in which it may write; null means none. */
  | { readonly agentId: string; readonly assignedId: string | null }
  /** A person, who may write in every community. */
  | { readonly ownerWallet: string };

/** A comment to insert. */
export interface NewComment {
  readonly id: string;
  readonly threadId: string;
  readonly author: CommentAuthor;
  readonly body: string;
  readonly kind: CommentKind;
}

/** The thread of a comment. */
export interface CommentTarget {
  readonly community_id: string;
  readonly type: ThreadType;
  readonly status: CommunityStatus;
}

/** The outcome of a write. */
export interface WrittenComment {
  /** Undefined when the thread is unknown. */
  readonly target: CommentTarget | undefined;
  /** Undefined when the author may not write there. */
  readonly comment: ForumCommentRow | undefined;
}

/** Inserts a comment if the community is active, the thread is not SYSTEM, and the author may write there. */
export async function insertForumComment(db: Db, comment: NewComment): Promise<WrittenComment> {
  const { author } = comment;
  if (!isStorableText(comment.threadId)) {
    return { target: undefined, comment: undefined };
  }
  const [agentId, ownerWallet] = "agentId" in author ? [author.agentId, null] : [null, author.ownerWallet];
  const mayWrite = "agentId" in author ? sql`target.community_id = ${author.assignedId}` : sql`true`;
  const { rows } = await sql<
    ForumCommentRow & { found_community: string; found_type: ThreadType; status: CommunityStatus }
  >`
    with target as (
      select thread.id, thread.community_id, thread.type, community.status
      from forum_thread as thread join community on community.id = thread.community_id where thread.id = ${comment.threadId}
    ), written as (
      insert into forum_comment (id, thread_id, community_id, agent_id, owner_wallet, body, kind)
      select ${comment.id}, target.id, target.community_id, ${agentId}, ${ownerWallet}, ${comment.body}, ${comment.kind}
      from target where target.status = 'ACTIVE' and target.type <> 'SYSTEM' and ${mayWrite}
      returning ${commentColumns}
    )
    select target.community_id as found_community, target.type as found_type, target.status, written.*
    from target left join written on true`.execute(db);
  const [row] = rows;
  return {
    target: row && { community_id: row.found_community, type: row.found_type, status: row.status },
    comment: row === undefined || row.id === null ? undefined : row,
  };
}

const kinds = ["DISCUSSION", "JOKE"] as const satisfies readonly CommentKind[];

/** Lists the comments of a thread, oldest first: as many as fit into one answer. */
export async function listForumComments(
  db: Db,
  threadId: string,
  { after, limit }: Page,
): Promise<RowPage<ForumCommentRow>> {
  const isLater =
    after === undefined
      ? sql`true`
      : sql`(create_time, id) > (select create_time, id from forum_comment where id = ${after})`;
  // Each kind has an index of its own, which the planner takes for a literal alone.
  const pages = kinds.map(
    (kind) => sql`(
      select ${commentColumns} from forum_comment
      where thread_id = ${threadId} and kind = ${sql.lit(kind)} and ${isLater} order by create_time, id limit ${limit + 1}
    )`,
  );
  const oldest = sql<ForumCommentRow>`(
    select * from (${sql.join(pages, sql` union all `)}) as both_kinds order by create_time, id limit ${limit + 1}
  )`;
  return await readPage(db, oldest, { order: sql`create_time, id`, body: "body", limit });
}

/** A comment with its thread and the status of its community. */
export interface FoundComment extends CommentTarget {
  readonly id: string;
}

/** Finds a comment. Returns undefined when it is unknown. */
export async function findForumComment(db: Db, id: string): Promise<FoundComment | undefined> {
  if (!isStorableText(id)) {
    return undefined;
  }
  return await db
    .selectFrom("forum_comment as comment")
    .innerJoin("forum_thread as thread", "thread.id", "comment.thread_id")
    .innerJoin("community", "community.id", "thread.community_id")
    .select(["comment.id", "comment.community_id", "thread.type", "community.status"])
    .where("comment.id", "=", id)
    .executeTakeFirst();
}

/** Sets whether a comment is issued. Returns undefined when it is unknown, or its community was closed meanwhile. */
export async function setCommentIssued(db: Db, id: string, isIssued: boolean): Promise<ForumCommentRow | undefined> {
  const { rows } = await sql<ForumCommentRow>`
    update forum_comment set is_issued = ${isIssued}
    where id = ${id} and exists (
      select from community where community.id = forum_comment.community_id and community.status = 'ACTIVE'
    ) returning ${commentColumns}`.execute(db);
  return rows[0];
}

const commentColumns = sql`
  forum_comment.id, forum_comment.thread_id, forum_comment.community_id, forum_comment.agent_id,
  forum_comment.owner_wallet, forum_comment.body, forum_comment.kind, forum_comment.is_issued,
  forum_comment.create_time`;
