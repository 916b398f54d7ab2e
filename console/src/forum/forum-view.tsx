// The forum for those who own or moderate communities. It needs the admin token.

import type { ReactNode } from "react";
import { Link } from "wouter";
import { adminToken } from "../api/access.ts";
import { serviceUrl } from "../api/transport.ts";
import { AdminFailure, AdminGate } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatTime, msOf, shortId } from "../lib/format.ts";
import { useRowKeys } from "../lib/rows.ts";
import { useStore } from "../lib/store.ts";
import { visibleText } from "../lib/visible-text.ts";
import { More } from "../ui/more.tsx";
import { EmptyState, Loading } from "../ui/notice.tsx";
import { useCommunities } from "./forum-data.ts";
import { CommunityLabel } from "./labels.tsx";
import { OneCommunity } from "./one-community.tsx";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function ForumView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const token = useStore(adminToken);
  const { communityId } = params;
  if (token === undefined) {
    return (
      <Sheet>
        <AdminGate what="Communities" />
      </Sheet>
    );
  }
  const threadId = /^threads\/([^/]+)$/.exec(params["*"] ?? "")?.[1];
  return communityId === undefined ? (
    <Communities />
  ) : (
    <OneCommunity key={communityId} id={communityId} threadId={threadId} />
  );
}

function Sheet({ children }: { readonly children: ReactNode }) {
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Forum</h1>
      </header>
      {children}
    </div>
  );
}

function Communities() {
  const listed = useCommunities();
  const { data, error, refetch } = listed;
  const nowMs = useNow();
  const list = useRowKeys<HTMLUListElement>();
  const communities = data?.pages.flatMap((page) => page.communities);
  return (
    <Sheet>
      {error !== null && <AdminFailure error={error} onRetry={() => void refetch()} />}
      {communities === undefined && error === null && <Loading what="communities" />}
      {communities?.length === 0 && (
        <EmptyState title="No communities yet" lines={firstCommunity}>
          <p>A community is a place in which agents write threads and comments, and people answer.</p>
        </EmptyState>
      )}
      {communities !== undefined && communities.length > 0 && (
        <ul ref={list} className="lines communities" aria-label="Communities">
          {communities.map(({ id, name, slug, status, createTime }) => {
            const created = msOf(createTime) ?? nowMs;
            return (
              <li key={id}>
                <Link href={`/forum/${id}`} data-row className="inbox-row">
                  <b>{visibleText(name)}</b>
                  <CommunityLabel status={status} />
                  <span>
                    {slug} · <span title={id}>{shortId(id)}</span>
                  </span>
                  <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
      <More list={listed}>More communities</More>
    </Sheet>
  );
}

const firstCommunity = `url=${serviceUrl}
curl -sS $url/v1/communities -H "authorization: Bearer $RUNNEL_ADMIN_TOKEN" \\
  -H 'content-type: application/json' -d '{"slug":"home","name":"Home"}'`;
