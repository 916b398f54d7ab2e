// The tree of a run: all runs that its agents have called, as they change, with what each has used and the sums of those below it.

import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { firstPage, useAllPages } from "../lib/all-pages.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatCost, formatCount, formatDuration, formatShort, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { isActive } from "../lib/run-state.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runChanges, shortOutput } from "../runs/run-changes.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import { foldTree, joinRuns, layTree, type TreeNode, type Used } from "./run-tree.ts";

const rowPx = 48;
const columns = ["Agent", "State", "Tokens", "Cost", "Duration"];

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function TreePane({ run }: { readonly run: Run }) {
  const rootId = run.rootRunId === "" ? run.runId : run.rootRunId;
  const { runs, error, isPending, hasMore, refetch } = useTreeRuns(run, rootId);
  const lines = useMemo(() => layTree(runs, rootId), [runs, rootId]);
  const [top] = lines;
  if (error !== null && top === undefined) {
    return <Failure error={error} onRetry={refetch} />;
  }
  if (top === undefined || isPending) {
    return <Loading what="the tree" />;
  }
  return (
    <div className="tree">
      <Summary sum={top.sum} lines={lines} hasMore={hasMore} />
      <Lines lines={lines} shownId={run.runId} />
    </div>
  );
}

/** Loads the runs of a tree once, and follows them in the stream of the client's runs, which all tabs share. */
function useTreeRuns(run: Run, rootId: string) {
  const changes = useChanges(runChanges);
  const { items } = changes;
  // What ends between the list and the beginning of the stream would be in neither.
  const enabled = changes.phase.name !== "connecting";
  const below = useInfiniteQuery(
    RunService.method.listRuns,
    { rootRunId: rootId, ...shortOutput, ...firstPage },
    { ...inPages, enabled, staleTime: 0, gcTime: 0 },
  );
  useAllPages(below);
  const isTop = rootId === run.runId;
  const top = useQuery(RunService.method.getRun, { runId: rootId, ...shortOutput }, { enabled: enabled && !isTop });
  const [known] = useState(() => new Map<string, Run>());
  const runs = useMemo(() => {
    joinRuns(known, below.data?.pages.flatMap((page) => page.runs) ?? []);
    joinRuns(
      known,
      [top.data?.run, run].filter((each) => each !== undefined),
    );
    joinRuns(
      known,
      [...items.values()].filter((each) => each.rootRunId === rootId || each.runId === rootId),
    );
    return [...known.values()];
  }, [known, below.data, top.data, run, items, rootId]);
  const error = below.error ?? top.error;
  const refetch = (): void => void Promise.all([below.refetch(), isTop ? undefined : top.refetch()]);
  return { runs, error, isPending: below.isPending, hasMore: below.hasNextPage, refetch };
}

function Summary({
  sum,
  lines,
  hasMore,
}: {
  readonly sum: Used;
  readonly lines: readonly TreeNode[];
  readonly hasMore: boolean;
}) {
  const waiting = lines.filter(({ run }) => run.waitReason !== "" && run.waitReason !== "session").length;
  const facts = [
    `${formatCount(sum.runs)} ${sum.runs === 1 ? "run" : "runs"}`,
    sum.active > 0 && `${formatCount(sum.active)} active`,
    waiting > 0 && `${formatCount(waiting)} waiting`,
    sum.runs > sum.active && `${formatCount(sum.tokens)} tokens`,
    sum.runs > sum.active && `cost ${costOf(sum)}`,
  ];
  return (
    <p className="tree-summary">
      <b>{facts.filter((fact) => fact !== false).join(" · ")}</b>
      {hasMore && " · the list is not complete yet"}
      <span className="hint">
        {" "}
        The figures of a run include those of the runs below it.
        {sum.active > 0 && " What an active run uses counts when it ends."}
        {sum.withoutCost > 0 && ` The cost of ${formatCount(sum.withoutCost)} is unknown.`}
      </span>
    </p>
  );
}

function Lines({ lines, shownId }: { readonly lines: readonly TreeNode[]; readonly shownId: string }) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => foldTree(lines, folded), [lines, folded]);
  const nowMs = useNow(lines[0] !== undefined && lines[0].sum.active > 0);
  const list = useRef<VirtualListHandle>(null);
  // Two keys may come before the next rendering.
  const latest = useRef(shownId);
  const index = shown.findIndex(({ run }) => run.runId === latest.current);
  const move = (by: number): void => {
    const at = shown.findIndex(({ run }) => run.runId === latest.current);
    const next = Math.min(shown.length - 1, Math.max(0, at + by));
    latest.current = shown[next]?.run.runId ?? latest.current;
    list.current?.focus(next);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  const fold = (runId: string, isFolded: boolean): void =>
    setFolded((before) => {
      const next = new Set(before);
      if (isFolded) {
        next.add(runId);
      } else {
        next.delete(runId);
      }
      return next;
    });
  return (
    <div className="tree-table" role="treegrid" aria-label="Tree of runs" aria-rowcount={shown.length + 1}>
      <div className="tree-head" role="row" aria-rowindex={1}>
        {columns.map((name) => (
          <span key={name} role="columnheader" data-column={name.toLowerCase()}>
            {name}
          </span>
        ))}
      </div>
      <VirtualList
        handle={list}
        className="tree-rows"
        role="rowgroup"
        count={shown.length}
        rowPx={rowPx}
        keep={index}
        keyOf={(at) => shown[at]?.run.runId ?? at}
        render={(at) => {
          const node = shown[at];
          return (
            node && (
              <Line
                node={node}
                index={at}
                nowMs={nowMs}
                isShown={node.run.runId === shownId}
                isFolded={folded.has(node.run.runId)}
                onFold={(isFolded) => fold(node.run.runId, isFolded)}
                onFocus={() => {
                  latest.current = node.run.runId;
                }}
                onMove={move}
              />
            )
          );
        }}
      />
    </div>
  );
}

function Line({
  node,
  index,
  nowMs,
  isShown,
  isFolded,
  onFold,
  onFocus,
  onMove,
}: {
  readonly node: TreeNode;
  readonly index: number;
  readonly nowMs: number;
  readonly isShown: boolean;
  readonly isFolded: boolean;
  readonly onFold: (isFolded: boolean) => void;
  readonly onFocus: () => void;
  readonly onMove: (by: number) => void;
}) {
  const { run, level, children, place, siblings, own, sum } = node;
  const name = visibleText(run.agentName || run.driver);
  const [started, ended] = [msOf(run.startTime), msOf(run.endTime)];
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => onMove(1),
    ArrowUp: () => onMove(-1),
    ...(children > 0 && { ArrowLeft: () => onFold(true), ArrowRight: () => onFold(false) }),
  };
  return (
    <div
      className="tree-row"
      role="row"
      aria-rowindex={index + 2}
      aria-level={level + 1}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={children > 0 ? !isFolded : undefined}
      data-shown={isShown || undefined}
      onFocus={onFocus}
      onKeyDown={(event) => {
        const action = keys[event.key];
        if (action !== undefined) {
          event.preventDefault();
          action();
        }
      }}
    >
      <span role="gridcell" data-column="agent" data-level={Math.min(level, 5)}>
        <span className="tree-name">
          {children > 0 && (
            <button
              type="button"
              className="tree-fold"
              aria-expanded={!isFolded}
              aria-label={`${formatCount(sum.runs - 1)} below ${name} ${shortId(run.runId)}`}
              onClick={() => onFold(!isFolded)}
            >
              <Icon name="chevron" />
              {formatCount(sum.runs - 1)}
            </button>
          )}
          <Link href={`/runs/${run.runId}?tab=tree`} className="tree-link" aria-current={isShown ? "page" : undefined}>
            <b>{name}</b> <span className="mono">{shortId(run.runId)}</span>
          </Link>
        </span>
        <span className="tree-about">{visibleText(aboutOf(run).slice(0, aboutChars))}</span>
      </span>
      <span role="gridcell" data-column="state">
        <StateLabel state={run.state} />
      </span>
      <span role="gridcell" data-column="tokens">
        <Figure value={tokensOf(sum)} isSoFar={sum.active > 0} />
        {children > 0 && !isActive(run.state) && <span className="hint"> {formatShort(own.tokens)} own</span>}
      </span>
      <span role="gridcell" data-column="cost">
        <Figure value={costOf(sum)} isSoFar={sum.active > 0} />
      </span>
      <span role="gridcell" data-column="duration">
        {started === undefined ? "" : formatDuration((ended ?? nowMs) - started)}
      </span>
    </div>
  );
}

/** More does not fit into a row. */
const aboutChars = 120;

/** What the run waits for, why it failed, or what it said. */
function aboutOf({ waitReason, failureCode, error, output }: Run): string {
  return waitReason !== "" ? waitReason : failureCode !== "" ? `${failureCode} ${error}` : output;
}

/** A figure that grows until all runs have ended. */
function Figure({ value, isSoFar }: { readonly value: string; readonly isSoFar: boolean }) {
  return isSoFar && value !== "" ? <span title="so far">{value}+</span> : value;
}

function tokensOf({ tokens, withoutTokens, runs, active }: Used): string {
  return runs === active ? "" : tokens === 0 && withoutTokens > 0 ? "unknown" : formatShort(tokens);
}

/** A sum with unknown parts is a lower bound; with nothing known it is no figure. */
function costOf({ costMicroUsd, withoutCost, runs, active }: Used): string {
  if (runs === active) {
    return "";
  }
  return withoutCost === 0
    ? formatCost(costMicroUsd)
    : costMicroUsd === 0
      ? "unknown"
      : `≥ ${formatCost(costMicroUsd)}`;
}
