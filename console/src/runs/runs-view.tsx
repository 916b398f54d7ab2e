// The list of runs: live, filtered by the address, and moved through by keyboard.

import { createInfiniteQueryOptions, useInfiniteQuery } from "@connectrpc/connect-query";
import type { QueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { listRuns } from "../api/list-calls.ts";
import { transport } from "../api/transport.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatCount } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { isActive } from "../lib/run-state.ts";
import { useSearchOn } from "../lib/search-on.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { runChanges, shortOutput } from "./run-changes.ts";
import { mergeRuns, type RunsFilter, readFilter, toRequest } from "./runs-filter.ts";
import { RunsTable } from "./runs-table.tsx";

const pageSize = 100;
const FirstRun = lazy(() => import("./first-run.tsx"));
const SearchResults = lazy(() => import("./search-results.tsx"));
const ColumnsMenu = lazy(() => import("./columns-menu.tsx"));
const MarkedActions = lazy(() => import("./marked-actions.tsx"));
const CancelDialog = lazy(() => import("./cancel-dialog.tsx"));

/** Asks for the list of an address before its view is rendered. Resolves when the answer is there, and after a failure. */
export async function askForRuns(queries: QueryClient, query: string): Promise<void> {
  const [method, request, pages] = queryOf(readFilter(new URLSearchParams(query), Date.now()));
  await queries.prefetchInfiniteQuery(createInfiniteQueryOptions(method, request, { ...pages, transport }));
}

function queryOf(filter: RunsFilter) {
  return [listRuns, { ...toRequest(filter), ...shortOutput, pageSize, pageToken: "" }, inPages] as const;
}

export function RunsView() {
  const [parameters] = useSearchParams();
  const query = parameters.toString();
  // The start of a span stays fixed until the filter changes.
  const filter = useMemo(() => readFilter(new URLSearchParams(query), Date.now()), [query]);
  const changes = useChanges(runChanges);
  const list = useInfiniteQuery(...queryOf(filter));
  const listed = useMemo(() => list.data?.pages.flatMap((page) => page.runs) ?? [], [list.data]);
  const runs = useMemo(() => mergeRuns(listed, changes.items, filter), [listed, changes.items, filter]);
  const isSearching = useSearchOn(list, runs.length, list.data?.pages.at(-1)?.runs);
  // A search shows other runs than the list.
  const active = filter.words === "" ? runs.filter(({ state }) => isActive(state)) : [];
  const [isCancelling, setCancelling] = useState(false);
  const [marked, setMarked] = useState<readonly string[]>([]);
  const mark = useCallback(
    (runId: string): void =>
      setMarked((now) => (now.includes(runId) ? now.filter((id) => id !== runId) : [...now, runId])),
    [],
  );
  const search = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => search.current?.focus() });
  return (
    <div className="view runs-view">
      <header className="view-head">
        <h1>Runs</h1>
        <StreamBadge phase={changes.phase} />
        <div className="spacer" />
        <Suspense>{marked.length > 0 && <MarkedActions marked={marked} />}</Suspense>
        {active.length > 0 && (
          <button type="button" className="button" onClick={() => setCancelling(true)}>
            <Icon name="stop" />
            Cancel {formatCount(active.length)} active
          </button>
        )}
        <Link href="/new" className="button primary">
          <Icon name="plus" />
          New run
        </Link>
      </header>
      <div className="list-tools">
        <FilterBar search={search} />
        <Suspense>{filter.words === "" && <ColumnsMenu />}</Suspense>
      </div>
      {filter.words !== "" ? (
        <Suspense fallback={<Loading what="the search" />}>
          <SearchResults filter={filter} />
        </Suspense>
      ) : (
        <Body
          list={list}
          runs={runs}
          isFiltered={query !== ""}
          isSearching={isSearching}
          marked={marked}
          onMark={mark}
          onMore={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) {
              void list.fetchNextPage();
            }
          }}
        />
      )}
      <Suspense>
        {isCancelling && <CancelDialog active={active} filter={filter} onClose={() => setCancelling(false)} />}
      </Suspense>
    </div>
  );
}

interface List {
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly refetch: () => Promise<unknown>;
}

function Body({
  list,
  runs,
  isFiltered,
  isSearching,
  marked,
  onMark,
  onMore,
}: {
  readonly list: List;
  readonly runs: readonly Run[];
  readonly isFiltered: boolean;
  /** Whether older runs may match and are looked for. */
  readonly isSearching: boolean;
  readonly marked: readonly string[];
  readonly onMark: (runId: string) => void;
  readonly onMore: () => void;
}) {
  const [, navigate] = useLocation();
  const nowMs = useNow();
  if (list.error !== null && runs.length === 0) {
    return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  }
  if (runs.length === 0 && (list.isPending || isSearching)) {
    return <Loading what={isSearching ? "older runs" : "runs"} />;
  }
  if (runs.length === 0) {
    return isFiltered ? (
      <EmptyState title="No run matches this filter">
        <div className="actions">
          <Link href="/runs" className="button">
            Show all runs
          </Link>
        </div>
      </EmptyState>
    ) : (
      <FirstRun />
    );
  }
  return (
    <>
      <RunsTable
        runs={runs}
        nowMs={nowMs}
        hasMore={list.hasNextPage}
        marked={marked}
        onMark={onMark}
        onEnd={onMore}
        onOpen={(runId) => navigate(`/runs/${runId}`)}
      />
      {isSearching && <Loading what="older runs" />}
    </>
  );
}
