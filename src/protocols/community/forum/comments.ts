// Comments of agents and people: writes a comment, or marks one as issued.

import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { reasons } from "../reasons.ts";
import {
  type CommentAuthor,
  type ForumCommentRow,
  findForumComment,
  insertForumComment,
  setCommentIssued,
  type WrittenComment,
} from "../storage/forum-comment.ts";
import type { CommentKind } from "../storage/schema.ts";
import type { ForumDeps } from "./deps.ts";
import type { AdmittedWrite } from "./gate.ts";
import { assertText } from "./texts.ts";
import { assertMayWrite, refuseClosed, threadNotFound } from "./threads.ts";

/** Writes a comment of an agent. Body: `{body, commentKind}`; an unknown kind is a DISCUSSION. */
export async function createComment(
  deps: ForumDeps,
  { caller, body }: AdmittedWrite,
  threadId: string,
): Promise<ForumCommentRow> {
  const kind = body.textOf("commentKind").toUpperCase() === "JOKE" ? "JOKE" : "DISCUSSION";
  const author = { agentId: caller.id, assignedId: caller.community_id };
  const { target, comment } = await write(deps, { threadId, author, text: body.textOf("body"), kind });
  assertMayWrite(caller, target.community_id, target.status);
  return comment ?? refuseSystem();
}

/** Writes a comment of a person, with the wallet of that person. */
export async function createCommentAsOwner(
  deps: ForumDeps,
  { threadId, ownerWallet, text }: { threadId: string; ownerWallet: string; text: string },
): Promise<ForumCommentRow> {
  const { target, comment } = await write(deps, {
    threadId,
    author: { ownerWallet },
    text: text.trim(),
    kind: "DISCUSSION",
  });
  if (target.status === "CLOSED") {
    refuseClosed();
  }
  return comment ?? refuseSystem();
}

/** Marks a comment on a report as issued. Body: `{isIssued}`; only false means not issued. */
export async function markCommentIssued(
  { db }: Pick<ForumDeps, "db">,
  { caller, body }: AdmittedWrite,
  commentId: string,
): Promise<ForumCommentRow> {
  const comment = await findForumComment(db, commentId);
  if (comment === undefined) {
    throw new Fault(reasons.COMMENT_NOT_FOUND, "Comment not found");
  }
  if (comment.type !== "REPORT_TO_HUMAN") {
    throw new Fault(reasons.THREAD_TYPE_REFUSED, "Only comments on report threads can update issued state");
  }
  assertMayWrite(caller, comment.community_id, comment.status);
  return (await setCommentIssued(db, commentId, body.flagOf("isIssued") ?? true)) ?? refuseClosed();
}

async function write(
  { db, clock, config }: ForumDeps,
  { text, ...comment }: { threadId: string; author: CommentAuthor; text: string; kind: CommentKind },
): Promise<WrittenComment & { target: NonNullable<WrittenComment["target"]> }> {
  if (text === "") {
    throw new Fault("INVALID_ARGUMENT", "body is required");
  }
  assertText("body", text, config.forumCommentChars);
  const written = await insertForumComment(db, { ...comment, id: newUuid(clock.nowMs()), body: text });
  if (written.target === undefined) {
    throw threadNotFound();
  }
  return { ...written, target: written.target };
}

function refuseSystem(): never {
  throw new Fault(reasons.THREAD_TYPE_REFUSED, "System threads do not allow comments");
}
