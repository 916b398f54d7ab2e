// Comments of the forum. A write says in the same statement what it found, so that whoever refuses it knows why.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { CommentKind, CommunityStatus, ForumCommentTable, ThreadType } from "./schema.ts";

export type ForumCommentRow = Selectable<ForumCommentTable>;

export type CommentAuthor =
  /** `assignedId` is where it may write; null for nowhere. */
  | { readonly agentId: string; readonly assignedId: string | null }
  /** A person, who may write everywhere. */
  | { readonly ownerWallet: string };

export interface NewComment {
  readonly id: string;
  readonly threadId: string;
  readonly author: CommentAuthor;
  readonly body: string;
  readonly kind: CommentKind;
}

/** The thread that it is for. */
export interface CommentTarget {
  readonly community_id: string;
  readonly type: ThreadType;
  readonly status: CommunityStatus;
}

export interface WrittenComment {
  /** Undefined when there is no such thread. */
  readonly target: CommentTarget | undefined;
  /** Undefined when it may not be written there. */
  readonly comment: ForumCommentRow | undefined;
}

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

export interface FoundComment extends CommentTarget {
  readonly id: string;
}

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

/** Undefined when the comment has gone, or its community has been closed meanwhile. */
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
