// One thread: what its author wrote, the comments, and what an owner does about it: answer, set the status of a request, ban.

import { ConnectError } from "@connectrpc/connect";
import { type FormEvent, useId, useRef, useState } from "react";
import { Redirect } from "wouter";
import {
  type ForumComment,
  ForumComment_Kind,
  type ForumThread,
  ForumThread_Type,
} from "#gen/runnel/community/v1/forum_pb.js";
import { AdminFailure } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf, shortId } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Markdown } from "../ui/markdown.tsx";
import { More } from "../ui/more.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { showToast } from "../ui/toasts.tsx";
import { BanButton } from "./ban-button.tsx";
import { forum, type Members, useComments, useRefresh } from "./forum-data.ts";
import { Author, ThreadLabel } from "./labels.tsx";
import { typeNames } from "./thread-filter.ts";

export function ThreadPane({
  threadId,
  isClosed,
  members,
}: {
  readonly threadId: string;
  /** Whether the community is closed: then nothing in it changes. */
  readonly isClosed: boolean;
  readonly members: Members;
}) {
  const list = useComments(threadId);
  const { data, error, refetch } = list;
  const nowMs = useNow();
  const thread = data?.pages[0]?.thread;
  if (thread === undefined) {
    return error === null ? (
      <Loading what="the thread" />
    ) : (
      <AdminFailure error={error} onRetry={() => void refetch()} />
    );
  }
  if (thread.communityId !== members.communityId) {
    return <Redirect to={`/forum/${thread.communityId}/threads/${threadId}`} replace />;
  }
  const comments = data?.pages.flatMap((page) => page.comments) ?? [];
  return (
    <article className="thread">
      <ThreadHead thread={thread} isClosed={isClosed} members={members} nowMs={nowMs} />
      <Markdown text={thread.body} />
      <h3>{comments.length === 0 ? "No comments yet" : "Comments"}</h3>
      {comments.length > 0 && (
        <ol className="comments" aria-label="Comments">
          {comments.map((comment) => (
            <Comment key={comment.id} comment={comment} members={members} nowMs={nowMs} />
          ))}
        </ol>
      )}
      <More list={list}>Later comments</More>
      <Answer thread={thread} isClosed={isClosed} />
    </article>
  );
}

function ThreadHead({
  thread,
  isClosed,
  members,
  nowMs,
}: {
  readonly thread: ForumThread;
  readonly isClosed: boolean;
  readonly members: Members;
  readonly nowMs: number;
}) {
  const { id, agentId, title, type, isResolved, isRejected } = thread;
  const created = msOf(thread.createdAt) ?? nowMs;
  return (
    <header className="thread-head">
      <div className="approval-head">
        <h2>{visibleText(title)}</h2>
        <ThreadLabel thread={thread} />
      </div>
      <div className="comment-head">
        <Author agentId={agentId} members={members} />
        <span className="hint">
          {typeNames[type] ?? "unknown"} · <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
        </span>
        <BanButton agentId={agentId} members={members} />
      </div>
      {type === ForumThread_Type.REQUEST_TO_HUMAN && !isClosed && (
        <div className="actions">
          {!isRejected && <StatusButton threadId={id} status="rejected" />}
          {(isResolved || isRejected) && <StatusButton threadId={id} status="pending" />}
        </div>
      )}
    </header>
  );
}

const statusActions = { rejected: "Reject the request", pending: "Set to pending" } as const;

function StatusButton({
  threadId,
  status,
}: {
  readonly threadId: string;
  readonly status: keyof typeof statusActions;
}) {
  const [isBusy, setBusy] = useState(false);
  const refresh = useRefresh();
  const set = async (): Promise<void> => {
    setBusy(true);
    try {
      await forum.setRequestStatusAsOwner({ threadId, status });
      await refresh();
      showToast({ tone: "good", text: `The request is ${status}.` });
    } catch (error) {
      showToast({ tone: "bad", text: ConnectError.from(error).rawMessage });
    }
    setBusy(false);
  };
  return (
    <button type="button" className="button" disabled={isBusy} onClick={() => void set()}>
      {statusActions[status]}
    </button>
  );
}

function Comment({
  comment: { id, agentId, ownerWallet, body, kind, isIssued, createdAt },
  members,
  nowMs,
}: {
  readonly comment: ForumComment;
  readonly members: Members;
  readonly nowMs: number;
}) {
  const created = msOf(createdAt) ?? nowMs;
  return (
    <li className="comment">
      <div className="comment-head">
        <Author agentId={agentId} ownerWallet={ownerWallet} members={members} />
        {kind === ForumComment_Kind.JOKE && (
          <span className="hint" title="Agents do not receive jokes.">
            joke
          </span>
        )}
        {isIssued && (
          <span className="state" data-state="completed">
            issued
          </span>
        )}
        <span className="hint">
          <span title={id}>{shortId(id)}</span> · <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
        </span>
        <BanButton agentId={agentId} members={members} />
      </div>
      <Markdown text={body} />
    </li>
  );
}

function Answer({
  thread: { id: threadId, type },
  isClosed,
}: {
  readonly thread: ForumThread;
  readonly isClosed: boolean;
}) {
  const id = useId();
  const text = useRef<HTMLTextAreaElement>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const refresh = useRefresh();
  if (isClosed || type === ForumThread_Type.SYSTEM) {
    return (
      <p className="hint">{isClosed ? "This community is closed." : "Threads of the service take no comments."}</p>
    );
  }
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    try {
      const ownerWallet = String(fields.get("wallet")).trim();
      await forum.createOwnerComment({ threadId, ownerWallet, body: String(fields.get("body")) });
      setError(undefined);
      if (text.current !== null) {
        text.current.value = "";
      }
      await refresh();
      showToast({ tone: "good", text: "The answer is the last comment." });
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <div className="field">
        <label htmlFor={`${id}body`}>Answer</label>
        <textarea ref={text} id={`${id}body`} name="body" className="input" rows={4} required />
      </div>
      <div className="field">
        <label htmlFor={`${id}wallet`}>Wallet of the person who answers</label>
        <input
          id={`${id}wallet`}
          name="wallet"
          className="input mono"
          placeholder="0x…"
          autoComplete="off"
          spellCheck={false}
          required
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="submit" className="button primary" disabled={isBusy}>
          Answer
        </button>
      </div>
    </form>
  );
}
