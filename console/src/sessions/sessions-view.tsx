// The sessions of this client, newest first, each with its conversation beside it.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useId, useMemo, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import type { Session } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { chipsOf } from "../lib/annotations.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatCount, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useParameter, withParameter } from "../lib/parameters.ts";
import { useSearchOn } from "../lib/search-on.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runChanges } from "../runs/run-changes.ts";
import { Icon } from "../ui/icon.tsx";
import { Inbox, InboxTitle } from "../ui/inbox.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { OneSession } from "./one-session.tsx";
import { lastOf, latestRuns, sessionStates } from "./session-list.ts";

/** The service reads more sessions for a page of this size. */
const pageSize = 100;
const wordsChars = 120;
/** What the service counts up to. */
const countedRunsMax = 100;
const refetchMs = 1_000;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function SessionsView({ params }: { readonly params: Readonly<Record<string, string | undefined>> }) {
  const chosen = params.sessionId;
  const [parameters] = useSearchParams();
  const states = (parameters.get("state") ?? "").split(",").flatMap((name) => sessionStates[name as StateName] ?? []);
  const agentName = parameters.get("agent") ?? "";
  const changes = useChanges(runChanges);
  const latest = useMemo(() => latestRuns(changes.items), [changes.items]);
  const list = useInfiniteQuery(
    SessionService.method.listSessions,
    { states, agentName, pageSize, pageToken: "" },
    inPages,
  );
  const sessions = useMemo(() => list.data?.pages.flatMap((page) => page.sessions) ?? [], [list.data]);
  const isSearching = useSearchOn(list, sessions.length, list.data?.pages.at(-1)?.sessions);
  // A search that began again with each new run would not end.
  useNewRuns(sessions, isSearching ? noRuns : latest, list.refetch);
  const isFiltered = states.length > 0 || agentName !== "";
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  const body = (): React.ReactNode => {
    if (list.error !== null && sessions.length === 0 && chosen === undefined) {
      return <Failure error={list.error} onRetry={() => void list.refetch()} />;
    }
    if (sessions.length === 0 && (list.isPending || isSearching) && chosen === undefined) {
      return <Loading what={isSearching ? "older sessions" : "sessions"} />;
    }
    if (sessions.length === 0 && chosen === undefined) {
      return <Empty isFiltered={isFiltered} />;
    }
    return (
      <Inbox
        label="Sessions"
        items={sessions}
        idOf={({ sessionId }) => sessionId}
        hrefOf={(sessionId) => `/sessions/${sessionId}${query}`}
        row={(session) => <Row session={session} latest={latest.get(session.sessionId)} />}
        onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
        chosen={chosen}
        oneLabel="The conversation"
        one={(sessionId) => <OneSession key={sessionId} sessionId={sessionId} />}
      />
    );
  };
  return (
    <div className="view sessions-view">
      <header className="view-head">
        <InboxTitle title="Sessions" href={`/sessions${query}`} isChosen={chosen !== undefined} />
        <StreamBadge phase={changes.phase} />
        <div className="spacer" />
        <Link href="/new-session" className="button primary">
          <Icon name="plus" />
          New session
        </Link>
      </header>
      <Filter />
      {isSearching && sessions.length > 0 && <Loading what="older sessions" />}
      {body()}
    </div>
  );
}

const noRuns: ReadonlyMap<string, Run> = new Map();

type StateName = keyof typeof sessionStates;

/** Asks for the list again when a run begins that it does not know, at most once a second; once for each run, which a filter may leave out. */
function useNewRuns(
  sessions: readonly Session[],
  latest: ReadonlyMap<string, Run>,
  refetch: () => Promise<unknown>,
): void {
  const asked = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const known = new Map(sessions.map(({ sessionId, latestRunId }) => [sessionId, latestRunId]));
    const begun = [...latest.values()].filter(({ sessionId, runId }) => (known.get(sessionId) ?? "") < runId);
    const unasked = begun.filter(({ runId }) => !asked.current.has(runId));
    if (unasked.length > 0 && timer.current === undefined) {
      asked.current = new Set(begun.map(({ runId }) => runId));
      timer.current = setTimeout(() => {
        timer.current = undefined;
        void refetch();
      }, refetchMs);
    }
  }, [sessions, latest, refetch]);
  useEffect(() => () => clearTimeout(timer.current), []);
}

function Filter() {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [parameters, setParameters] = useSearchParams();
  const [agent, setAgent] = useParameter("agent");
  const named = new Set((parameters.get("state") ?? "").split(",").filter((name) => name !== ""));
  const toggle = (name: string): void => {
    const next = new Set(named);
    if (!next.delete(name)) {
      next.add(name);
    }
    setParameters((current) => withParameter(current, "state", [...next].join(",")), { replace: true });
  };
  useShortcuts({ "/": () => field.current?.focus() });
  return (
    <search className="filter" aria-label="Filter sessions">
      <fieldset className="chips">
        <legend className="unseen">States</legend>
        {Object.keys(sessionStates).map((name) => (
          <label key={name} className="chip" data-state={name}>
            <input type="checkbox" checked={named.has(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
      </fieldset>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setAgent(field.current?.value.trim() ?? "");
        }}
      >
        <label className="unseen" htmlFor={`${id}agent`}>
          Agent name
        </label>
        <input
          ref={field}
          id={`${id}agent`}
          key={agent}
          className="input"
          defaultValue={agent}
          placeholder="agent name"
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}

function Row({ session, latest }: { readonly session: Session; readonly latest: Run | undefined }) {
  const nowMs = useNow();
  const { sessionId, name, annotations, runCount = 0 } = session;
  const { state, words, changeMs } = lastOf(session, latest);
  const count = `${formatCount(runCount)}${runCount === countedRunsMax ? "+" : ""} ${runCount === 1 ? "run" : "runs"}`;
  return (
    <>
      <b>
        {visibleText(name)} <bdi className="subject">{visibleText(words.slice(0, wordsChars))}</bdi>
      </b>
      {state === undefined ? (
        <span className="state" data-state="queued">
          created
        </span>
      ) : (
        <StateLabel state={state} />
      )}
      <span title={sessionId}>{[shortId(sessionId), count, ...chipsOf(annotations).map(visibleText)].join(" · ")}</span>
      <span>{changeMs === undefined ? "" : formatAge(nowMs - changeMs)}</span>
    </>
  );
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No session matches this filter">
      <div className="actions">
        <Link href="/sessions" className="button">
          Show all sessions
        </Link>
      </div>
    </EmptyState>
  ) : (
    <EmptyState title="No sessions yet" lines={firstSession}>
      <p>A session is a conversation with an agent. Begin one here, or by a call:</p>
      <div className="actions">
        <Link href="/new-session" className="button primary">
          New session
        </Link>
      </div>
    </EmptyState>
  );
}

const firstSession = `url=${serviceUrl}
id=$(curl -sS $url/v1/sessions -d '{"agent":{"name":"first"}}' | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d '{"message":"Say hello."}'`;
