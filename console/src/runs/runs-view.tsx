// The list of runs: live, filtered by the address, and moved through by keyboard.

import { createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useCallback, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { serviceUrl, transport } from "../api/transport.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatCount } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { isActive } from "../lib/run-state.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { Question } from "../ui/question.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { showToast } from "../ui/toasts.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { runChanges } from "./run-changes.ts";
import { mergeRuns, type RunsFilter, readFilter, toCancelRequest, toRequest } from "./runs-filter.ts";
import { RunsTable } from "./runs-table.tsx";
import { SearchResults } from "./search-results.tsx";

const pageSize = 100;
const service = createClient(RunService, transport);
const sessions = createClient(SessionService, transport);

export function RunsView() {
  const [parameters] = useSearchParams();
  const query = parameters.toString();
  // The start of a span stays fixed until the filter changes.
  const filter = useMemo(() => readFilter(new URLSearchParams(query), Date.now()), [query]);
  const changes = useChanges(runChanges);
  const list = useInfiniteQuery(RunService.method.listRuns, { ...toRequest(filter), pageSize, pageToken: "" }, inPages);
  const listed = useMemo(() => list.data?.pages.flatMap((page) => page.runs) ?? [], [list.data]);
  const runs = useMemo(() => mergeRuns(listed, changes.items, filter), [listed, changes.items, filter]);
  // A search shows other runs than the list.
  const active = filter.words === "" ? runs.filter(({ state }) => isActive(state)) : [];
  const [isCancelling, setCancelling] = useState(false);
  const [marked, setMarked] = useState<readonly string[]>([]);
  // A third mark takes the place of the first.
  const mark = useCallback(
    (runId: string): void =>
      setMarked((now) => (now.includes(runId) ? now.filter((id) => id !== runId) : [...now.slice(-1), runId])),
    [],
  );
  const [a, b] = marked;
  const search = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => search.current?.focus() });
  return (
    <div className="view runs-view">
      <header className="view-head">
        <h1>Runs</h1>
        <StreamBadge phase={changes.phase} />
        <div className="spacer" />
        {a !== undefined && (
          <Link href={`/compare?${new URLSearchParams({ a, ...(b !== undefined && { b }) })}`} className="button">
            <Icon name="swap" />
            {b === undefined ? "Compare with another" : "Compare the two"}
          </Link>
        )}
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
      <FilterBar search={search} />
      {filter.words !== "" ? (
        <SearchResults filter={filter} />
      ) : (
        <Body
          list={list}
          runs={runs}
          isFiltered={query !== ""}
          marked={marked}
          onMark={mark}
          onMore={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) {
              void list.fetchNextPage();
            }
          }}
        />
      )}
      {isCancelling && <CancelDialog active={active} filter={filter} onClose={() => setCancelling(false)} />}
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
  marked,
  onMark,
  onMore,
}: {
  readonly list: List;
  readonly runs: readonly Run[];
  readonly isFiltered: boolean;
  readonly marked: readonly string[];
  readonly onMark: (runId: string) => void;
  readonly onMore: () => void;
}) {
  const [, navigate] = useLocation();
  const nowMs = useNow();
  if (list.error !== null && runs.length === 0) {
    return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  }
  if (list.isPending && runs.length === 0) {
    return <Loading what="runs" />;
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
      <EmptyState title="No runs yet" lines={firstRun}>
        <p>A run appears here as soon as it begins.</p>
        <FirstRun />
      </EmptyState>
    );
  }
  return (
    <RunsTable
      runs={runs}
      nowMs={nowMs}
      hasMore={list.hasNextPage}
      marked={marked}
      onMark={onMark}
      onEnd={onMore}
      onOpen={(runId) => navigate(`/runs/${runId}`)}
    />
  );
}

/** One click to a live run, with tools that only read. */
function FirstRun() {
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      const agent = { name: "first", tools: { builtin: ["list_dir", "read_file"] } };
      const { sessionId } = await sessions.createSession({ agent });
      const message = "Explore this directory: list its files, and read the README if there is one.";
      const { runId } = await sessions.sendMessage({ sessionId, message });
      navigate(`/runs/${runId}`);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="button" className="button primary" disabled={isBusy} onClick={() => void start()}>
          Start a first run
        </button>
        <Link href="/new" className="button">
          Write its message first
        </Link>
      </div>
    </>
  );
}

const firstRun = `url=${serviceUrl}
id=$(curl -sS $url/v1/sessions -d '{"agent":{"name":"first"}}' | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d '{"message":"Say hello."}'`;

/** Calls at the same time, where each run needs one of its own. */
const parallelMax = 4;

function CancelDialog({
  active,
  filter,
  onClose,
}: {
  readonly active: readonly Run[];
  readonly filter: RunsFilter;
  readonly onClose: () => void;
}) {
  const request = toCancelRequest(filter);
  const cancel = async (): Promise<void> => {
    const count = request === undefined ? await cancelEach(active) : (await service.cancelRuns(request)).cancelled;
    showToast({ tone: "good", text: `Asked ${formatCount(count)} ${count === 1 ? "run" : "runs"} to stop.` });
  };
  return (
    <Question title="Cancel active runs" yes="Cancel them" no="Leave them" onYes={cancel} onClose={onClose}>
      <p>
        {request === undefined
          ? `The ${formatCount(active.length)} active runs of this list are cancelled.`
          : `All active runs that match the filter are cancelled: ${formatCount(active.length)} in this list, and those further down.`}
      </p>
      <p className="hint">A running run stops at its next step. What it has written stays in its log.</p>
    </Question>
  );
}

async function cancelEach(runs: readonly Run[]): Promise<number> {
  const rest = [...runs];
  const work = async (): Promise<void> => {
    for (let run = rest.pop(); run !== undefined; run = rest.pop()) {
      await service.cancelRun({ runId: run.runId });
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
  return runs.length;
}
