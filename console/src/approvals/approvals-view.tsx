// The inbox of approvals: what waits for a person first, the history below, and one approval beside them.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { Approval } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Inbox, InboxTitle } from "../ui/inbox.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { approvalChanges, isPending, mergeApprovals } from "./approval-changes.ts";
import { ApprovalsFilter, askerOf, filterApprovals } from "./approvals-filter.tsx";
import { ApprovalLabel, OneApproval } from "./decision.tsx";
import { DecideSeveral } from "./several.tsx";

const pageSize = 100;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function ApprovalsView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const chosen = params.approvalId;
  const changes = useChanges(approvalChanges);
  const list = useInfiniteQuery(ApprovalService.method.listApprovals, { pageSize, pageToken: "" }, inPages);
  const approvals = useMemo(
    () => mergeApprovals(list.data?.pages.flatMap((page) => page.approvals) ?? [], changes.items),
    [list.data, changes.items],
  );
  const nowMs = useNow();
  const [parameters] = useSearchParams();
  const filter = parameters.size === 0 ? "" : `?${parameters}`;
  const shown = filterApprovals(approvals, parameters, nowMs);
  const pending = shown.filter(isPending);
  // Each form has values of its own.
  const plain = pending.filter(({ form }) => form === undefined);
  const [decided, setDecided] = useState<readonly Approval[] | undefined>(undefined);
  useEffect(() => setTitle("Approvals"), []);
  const body = (): React.ReactNode => {
    if (list.error !== null && approvals.length === 0 && chosen === undefined) {
      return <Failure error={list.error} onRetry={() => void list.refetch()} />;
    }
    if (list.isPending && approvals.length === 0) {
      return <Loading what="approvals" />;
    }
    if (approvals.length === 0 && chosen === undefined) {
      return <Empty />;
    }
    if (shown.length === 0 && chosen === undefined) {
      return <p className="hint">Nothing that waits matches this filter.</p>;
    }
    return (
      <Inbox
        key={filter}
        label="Approvals"
        items={shown}
        idOf={({ approvalId }) => approvalId}
        hrefOf={(approvalId) => `/approvals/${approvalId}${filter}`}
        row={(approval) => <Row approval={approval} nowMs={nowMs} />}
        onEnd={() => shown === approvals && list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
        chosen={chosen}
        oneLabel="The approval"
        one={(approvalId) => (
          <OneApproval key={approvalId} approvalId={approvalId}>
            {(approval) => <Head approval={approval} />}
          </OneApproval>
        )}
      />
    );
  };
  return (
    <div className="view approvals-view">
      <header className="view-head">
        <InboxTitle title="Approvals" href="/approvals" isChosen={chosen !== undefined} />
        <StreamBadge phase={changes.phase} />
        {pending.length > 0 && <span className="hint">{formatCount(pending.length)} waiting for a decision</span>}
        {(approvals.some(isPending) || shown !== approvals) && <ApprovalsFilter approvals={approvals} />}
        {plain.length > 1 && (
          <button type="button" className="button" onClick={() => setDecided(plain)}>
            Decide about {formatCount(plain.length)} …
          </button>
        )}
      </header>
      {body()}
      {decided !== undefined && <DecideSeveral approvals={decided} onClose={() => setDecided(undefined)} />}
    </div>
  );
}

function Head({ approval }: { readonly approval: Approval }) {
  const nowMs = useNow();
  const created = msOf(approval.createTime) ?? nowMs;
  return (
    <div className="inbox-head">
      <h2>{visibleText(approval.action)}</h2>
      <ApprovalLabel state={approval.state} />
      <span className="hint" title={formatTime(created)}>
        asked {formatAge(nowMs - created)}
        {askerOf(approval) !== "" && ` by ${visibleText(askerOf(approval))}`} ·{" "}
        <Link href={`/runs/${approval.runId}`}>run {shortId(approval.runId)}</Link>
      </span>
    </div>
  );
}

function Row({ approval, nowMs }: { readonly approval: Approval; readonly nowMs: number }) {
  const { action, subject, sessionId, state } = approval;
  const [created, expires] = [msOf(approval.createTime) ?? nowMs, msOf(approval.expireTime)];
  const asker = askerOf(approval);
  return (
    <>
      <b>
        {visibleText(action)} <bdi className="subject mono">{visibleText(subject)}</bdi>
      </b>
      <ApprovalLabel state={state} />
      <span>
        {asker === "" ? "" : `${visibleText(asker)} · `}session {shortId(sessionId)}
      </span>
      <span>
        {formatAge(nowMs - created)}
        {isPending(approval) && expires !== undefined && ` · ${formatDuration(expires - nowMs)} left`}
      </span>
    </>
  );
}

function Empty() {
  return (
    <EmptyState title="Nothing waits for you" lines={firstApproval}>
      <p>
        A call of a tool that the agent's list <code>approve</code> names waits here for a person. Try it:
      </p>
    </EmptyState>
  );
}

const firstApproval = `url=${serviceUrl}
agent='{"name":"careful","tools":{"builtin":["list_dir"],"approve":["list_dir"]}}'
id=$(curl -sS $url/v1/sessions -d '{"agent":'"$agent"'}' | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d '{"message":"Explore this directory."}'`;
