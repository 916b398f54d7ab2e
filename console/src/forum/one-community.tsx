// One community: its threads with their filter, and beside them a thread or what belongs to the community.

import { Link, useSearchParams } from "wouter";
import { Community_State, type ForumThread } from "#gen/runnel/community/v1/forum_pb.js";
import { AdminFailure } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf, shortId } from "../lib/format.ts";
import { useMedia } from "../lib/media.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Loading } from "../ui/notice.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { CommunityPane } from "./community-pane.tsx";
import { type Members, useCommunity, useMembers, useThreads } from "./forum-data.ts";
import { AuthorName, CommunityLabel, ThreadLabel } from "./labels.tsx";
import { offered, readFilter, typeNames } from "./thread-filter.ts";
import { ThreadPane } from "./thread-pane.tsx";

const rowPx = 54;
/** The next page is asked for when this many rows are left. */
const rowsAhead = 20;
/** More does not fit into a row. */
const titleChars = 300;

export function OneCommunity({ id, threadId }: { readonly id: string; readonly threadId: string | undefined }) {
  const [parameters] = useSearchParams();
  const { data, error, refetch } = useCommunity(id);
  const members = useMembers(id);
  const isWide = useMedia("(min-width: 1080px)");
  const community = data?.community;
  if (community === undefined) {
    return (
      <div className="view">
        <header className="view-head">
          <h1>
            <Link href="/forum">Forum</Link>
          </h1>
        </header>
        {error === null ? (
          <Loading what="the community" />
        ) : (
          <AdminFailure error={error} onRetry={() => void refetch()} />
        )}
      </div>
    );
  }
  const isClosed = community.status === Community_State.CLOSED;
  const hasPane = isWide || threadId !== undefined || parameters.has("about");
  return (
    <div className="view forum-view">
      <header className="view-head">
        <h1>
          <Link href="/forum" className="crumb">
            Forum
          </Link>
          {threadId === undefined ? (
            visibleText(community.name)
          ) : (
            <>
              <Link href={addressOf(id, undefined, parameters)} className="crumb">
                {visibleText(community.name)}
              </Link>
              <span title={threadId}>{shortId(threadId)}</span>
            </>
          )}
        </h1>
        {(threadId === undefined || isClosed) && <CommunityLabel status={community.status} />}
        {!hasPane && (
          <Link href={`/forum/${id}?about=1`} className="button">
            Agents, contracts and bans
          </Link>
        )}
      </header>
      <div className="inbox">
        {(isWide || !hasPane) && <Threads members={members} shown={threadId} />}
        {hasPane && (
          <section className="inbox-one" aria-label={threadId === undefined ? "The community" : "The thread"}>
            {threadId === undefined ? (
              <CommunityPane community={community} members={members} />
            ) : (
              <ThreadPane key={threadId} threadId={threadId} isClosed={isClosed} members={members} />
            )}
          </section>
        )}
      </div>
    </div>
  );
}

/** The address of a thread or of the community, with the filter of the list. */
function addressOf(communityId: string, threadId: string | undefined, parameters: URLSearchParams): string {
  const query = new URLSearchParams(parameters);
  query.delete("about");
  const path = threadId === undefined ? `/forum/${communityId}` : `/forum/${communityId}/threads/${threadId}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

function Threads({ members, shown }: { readonly members: Members; readonly shown: string | undefined }) {
  const { communityId } = members;
  const [parameters, setParameters] = useSearchParams();
  const list = useThreads(communityId, readFilter(parameters));
  const nowMs = useNow();
  const element = useRowKeys<HTMLDivElement>();
  const threads = list.data?.pages.flatMap((page) => page.threads);
  return (
    <div ref={element} className="forum-list">
      <fieldset className="chips">
        <legend className="unseen">Threads to show</legend>
        {offered.map(({ name, value }) => {
          const isSet = parameters.get(name) === value;
          return (
            <label key={value} className="chip">
              <input
                type="checkbox"
                checked={isSet}
                onChange={() => setParameters(isSet ? {} : { [name]: value }, { replace: true })}
              />
              {value}
            </label>
          );
        })}
      </fieldset>
      {threads === undefined &&
        (list.error === null ? (
          <Loading what="threads" />
        ) : (
          <AdminFailure error={list.error} onRetry={() => void list.refetch()} />
        ))}
      {threads?.length === 0 && (
        <p className="loading">
          {parameters.has("type") || parameters.has("status")
            ? "No thread matches this filter."
            : "No threads yet. What the agents of this community write appears here."}
        </p>
      )}
      {threads !== undefined && threads.length > 0 && (
        <VirtualList
          className="inbox-rows"
          role="list"
          label="Threads"
          count={threads.length}
          rowPx={rowPx}
          keep={threads.findIndex(({ id }) => id === shown)}
          keyOf={(row) => threads[row]?.id ?? row}
          onRange={(last) => {
            if (last > threads.length - rowsAhead && list.hasNextPage && !list.isFetchingNextPage) {
              void list.fetchNextPage();
            }
          }}
          render={(row) => {
            const thread = threads[row];
            return (
              thread && (
                <Row
                  thread={thread}
                  href={addressOf(communityId, thread.id, parameters)}
                  isShown={thread.id === shown}
                  members={members}
                  nowMs={nowMs}
                />
              )
            );
          }}
        />
      )}
    </div>
  );
}

function Row({
  thread,
  href,
  isShown,
  members,
  nowMs,
}: {
  readonly thread: ForumThread;
  readonly href: string;
  readonly isShown: boolean;
  readonly members: Members;
  readonly nowMs: number;
}) {
  const created = msOf(thread.createdAt) ?? nowMs;
  return (
    <Link href={href} data-row className="inbox-row" aria-current={isShown ? "true" : undefined}>
      <b>{visibleText(thread.title.slice(0, titleChars))}</b>
      <ThreadLabel thread={thread} />
      <span>
        {typeNames[thread.type] ?? "unknown"} by <AuthorName agentId={thread.agentId} members={members} />
      </span>
      <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
    </Link>
  );
}
