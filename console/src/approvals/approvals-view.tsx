// The inbox of approvals: what waits for a person first, the history below, and one approval beside them.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useMemo, useRef } from "react";
import { Link, useLocation } from "wouter";
import type { Approval } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { useMedia } from "../lib/media.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import { approvalChanges, isPending, mergeApprovals } from "./approval-changes.ts";
import { ApprovalLabel, OneApproval } from "./decision.tsx";

const pageSize = 100;
const rowPx = 54;
/** The next page is asked for when this many rows are left. */
const rowsAhead = 20;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function ApprovalsView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const chosen = params.approvalId;
  const changes = useChanges(approvalChanges);
  const list = useInfiniteQuery(
    ApprovalService.method.listApprovals,
    { pageSize, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: (last) => last.nextPageToken || undefined },
  );
  const approvals = useMemo(
    () => mergeApprovals(list.data?.pages.flatMap((page) => page.approvals) ?? [], changes.items),
    [list.data, changes.items],
  );
  const waiting = approvals.filter(isPending).length;
  const isWide = useMedia("(min-width: 1080px)");
  const shown = chosen ?? (isWide ? approvals[0]?.approvalId : undefined);
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
    return (
      <div className="inbox" data-one={(!isWide && chosen !== undefined) || undefined}>
        {(isWide || chosen === undefined) && (
          <Rows
            approvals={approvals}
            shown={shown}
            onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
          />
        )}
        {shown !== undefined && (
          <section className="inbox-one" aria-label="The approval">
            <OneApproval key={shown} approvalId={shown}>
              {(approval) => <Head approval={approval} />}
            </OneApproval>
          </section>
        )}
      </div>
    );
  };
  return (
    <div className="view approvals-view">
      <header className="view-head">
        <h1>
          {!isWide && chosen !== undefined ? (
            <Link href="/approvals" className="crumb">
              Approvals
            </Link>
          ) : (
            "Approvals"
          )}
        </h1>
        <StreamBadge phase={changes.phase} />
        {waiting > 0 && <span className="hint">{formatCount(waiting)} waiting for a decision</span>}
      </header>
      {body()}
    </div>
  );
}

function Head({ approval }: { readonly approval: Approval }) {
  const nowMs = useNow();
  const created = msOf(approval.createTime) ?? nowMs;
  return (
    <div className="approval-head">
      <h2>{visibleText(approval.action)}</h2>
      <ApprovalLabel state={approval.state} />
      <span className="hint" title={formatTime(created)}>
        asked {formatAge(nowMs - created)}
        {approval.runnerId !== "" && ` by ${visibleText(approval.runnerId)}`} ·{" "}
        <Link href={`/runs/${approval.runId}`}>run {shortId(approval.runId)}</Link>
      </span>
    </div>
  );
}

function Rows({
  approvals,
  shown,
  onEnd,
}: {
  readonly approvals: readonly Approval[];
  readonly shown: string | undefined;
  readonly onEnd: () => void;
}) {
  const nowMs = useNow();
  const [, navigate] = useLocation();
  const list = useRef<VirtualListHandle>(null);
  const latest = useRef(shown);
  latest.current = shown;
  const index = approvals.findIndex(({ approvalId }) => approvalId === shown);
  const move = (by: number): void => {
    const at = approvals.findIndex(({ approvalId }) => approvalId === latest.current);
    const next = approvals[Math.min(approvals.length - 1, Math.max(0, at + by))];
    if (next !== undefined) {
      latest.current = next.approvalId;
      navigate(`/approvals/${next.approvalId}`, { replace: true });
      list.current?.focus(approvals.indexOf(next));
    }
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return (
    <VirtualList
      handle={list}
      className="inbox-rows"
      role="list"
      label="Approvals"
      count={approvals.length}
      rowPx={rowPx}
      keep={index}
      keyOf={(row) => approvals[row]?.approvalId ?? row}
      onRange={(last) => {
        if (last > approvals.length - rowsAhead) {
          onEnd();
        }
      }}
      render={(row) => {
        const approval = approvals[row];
        return approval && <Row approval={approval} isShown={row === index} nowMs={nowMs} />;
      }}
    />
  );
}

function Row({
  approval,
  isShown,
  nowMs,
}: {
  readonly approval: Approval;
  readonly isShown: boolean;
  readonly nowMs: number;
}) {
  const { approvalId, action, runId, runnerId, state } = approval;
  const [created, expires] = [msOf(approval.createTime) ?? nowMs, msOf(approval.expireTime)];
  return (
    <Link href={`/approvals/${approvalId}`} className="inbox-row" aria-current={isShown ? "true" : undefined}>
      <b>{visibleText(action)}</b>
      <ApprovalLabel state={state} />
      <span>
        {runnerId === "" ? "" : `${visibleText(runnerId)} · `}run {shortId(runId)}
      </span>
      <span>
        {formatAge(nowMs - created)}
        {isPending(approval) && expires !== undefined && ` · ${formatDuration(expires - nowMs)} left`}
      </span>
    </Link>
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
