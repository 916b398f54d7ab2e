// One session as a conversation: what was said, the run that works now, what waits, and the box for the next message.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { AgentSchema, type Session } from "#gen/runnel/v1/session_pb.js";
import { ListMessagesRequest_Order, SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "../api/transport.ts";
import { chipsOf, evaluationOf } from "../lib/annotations.ts";
import { useChanges } from "../lib/changes.ts";
import { failureText } from "../lib/failure-text.ts";
import { shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useParameter } from "../lib/parameters.ts";
import { isActive } from "../lib/run-state.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { useRunLog } from "../run/kept-logs.ts";
import type { RunLog } from "../run/run-log.ts";
import { runChanges, shortOutput } from "../runs/run-changes.ts";
import { mergeRuns, readFilter } from "../runs/runs-filter.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { showToast } from "../ui/toasts.tsx";
import { Composer, type Sent } from "./composer.tsx";
import { Branches, Conversation, type ForkPlace } from "./conversation.tsx";
import { layConversation } from "./conversation-rows.ts";
import { isBehind } from "./session-list.ts";

/** Few agents have functions that a person answers. */
const PendingCalls = lazy(async () => ({ default: (await import("./pending-calls.tsx")).PendingCalls }));
/** Few people open them. */
const FilesDialog = lazy(() => import("./files-dialog.tsx"));
const sessions = createClient(SessionService, transport);
const runService = createClient(RunService, transport);
/** A screen shows some of them. */
const messagesAtOnce = 50;
const runsAtOnce = 250;

export function OneSession({ sessionId }: { readonly sessionId: string }) {
  const session = useQuery(SessionService.method.getSession, { sessionId });
  const [, navigate] = useLocation();
  const found = session.data?.session;
  const title = found === undefined ? "Session" : `${visibleText(found.name)} ${shortId(sessionId)}`;
  useEffect(() => setTitle(title), [title]);
  if (found !== undefined) {
    return <Loaded session={found} onForked={(id) => navigate(`/sessions/${id}`)} />;
  }
  if (session.error === null) {
    return <Loading what="the session" />;
  }
  return (
    <>
      <Failure error={session.error} onRetry={() => void session.refetch()} />
      {ConnectError.from(session.error).code === Code.NotFound && (
        <p className="hint">
          A deleted session has no conversation, and neither has one that a protocol or a calling agent keeps.{" "}
          <Link href={`/runs?session=${encodeURIComponent(sessionId)}`}>Runs of this id</Link>
        </p>
      )}
    </>
  );
}

interface Parts {
  readonly session: Session;
  readonly runs: readonly Run[];
  readonly onForked: (sessionId: string) => void;
  /** Asks for the runs again, such as after a message was sent. */
  readonly onSent: () => Promise<unknown>;
}

function Loaded({ session, onForked }: Pick<Parts, "session" | "onForked">) {
  const { sessionId } = session;
  const changes = useChanges(runChanges);
  const list = useInfiniteQuery(
    RunService.method.listRuns,
    { sessionId, ...shortOutput, pageSize: runsAtOnce, pageToken: "" },
    { ...inPages, staleTime: 0 },
  );
  const filter = useMemo(() => readFilter(new URLSearchParams({ session: sessionId }), 0), [sessionId]);
  const runs = useMemo(
    () => mergeRuns(list.data?.pages.flatMap((page) => page.runs) ?? [], changes.items, filter),
    [list.data, changes.items, filter],
  );
  if (list.data === undefined) {
    return list.error === null ? (
      <Loading what="the conversation" />
    ) : (
      <Failure error={list.error} onRetry={() => void list.refetch()} />
    );
  }
  const newest = runs.find((run) => !isBehind(run));
  const parts = { session, runs, onForked, onSent: list.refetch };
  return newest === undefined ? <Parts {...parts} live={undefined} /> : <WithLog {...parts} run={newest} />;
}

function WithLog({ run, ...parts }: Parts & { readonly run: Run }) {
  const log = useRunLog(run.runId);
  const { onSent } = parts;
  const { hasEnded } = log;
  const isWorking = isActive(run.state);
  useEffect(() => {
    if (isWorking) {
      log.limitTexts();
    }
  }, [isWorking, log]);
  // The log tells of the end before the watch does.
  useEffect(() => {
    if (hasEnded) {
      void onSent();
    }
  }, [hasEnded, onSent]);
  return <Parts {...parts} live={{ run, log }} />;
}

function Parts({
  session,
  runs,
  live,
  onForked,
  onSent,
}: Parts & { readonly live: { readonly run: Run; readonly log: RunLog } | undefined }) {
  const { sessionId } = session;
  const isRunning = live !== undefined && isActive(live.run.state);
  const fork = async (place: ForkPlace): Promise<void> => {
    try {
      const forked = await sessions.createSession({ fork: { sessionId, ...place }, requestId: crypto.randomUUID() });
      showToast({ tone: "good", text: "This is the fork: a session of its own." });
      onForked(forked.sessionId);
    } catch (failure) {
      showToast({ tone: "bad", text: `The session could not be forked: ${failureText(failure)}` });
    }
  };
  const cancel = async ({ runId }: Run): Promise<void> => {
    try {
      await runService.cancelRun({ runId });
    } catch (failure) {
      showToast({ tone: "bad", text: `The run could not be cancelled: ${failureText(failure)}` });
    }
    await onSent();
  };
  const send = async ({ messages, model, requestId }: Sent): Promise<void> => {
    const agent = model === "" ? undefined : create(AgentSchema, { model });
    await sessions.sendMessage({
      sessionId,
      messages: [...messages],
      // The results of calls belong to the run that has ended: they cannot wait behind another one.
      queueIfBusy: messages.every(({ role }) => role === "user"),
      requestId,
      ...(agent !== undefined && { agent }),
    });
    await onSent();
  };
  const calls = runs.some(({ state }) => isActive(state)) ? [] : pendingCallsOf(live?.log);
  return (
    <div className="session">
      <Head session={session} live={live} onCancel={(run) => void cancel(run)} onFork={() => void fork({})} />
      <Messages
        session={session}
        runs={runs}
        live={live}
        onFork={(place) => void fork(place)}
        onCancel={(run) => void cancel(run)}
      />
      <Suspense>{calls.length > 0 && <PendingCalls key={live?.run.runId} calls={calls} onSend={send} />}</Suspense>
      <Composer
        key={sessionId}
        draftName={sessionId}
        hint={isRunning ? "A run works: the message waits for its end." : "Enter sends, Shift and Enter begins a line."}
        onSend={send}
      />
    </div>
  );
}

/** Returns the calls with which a run has ended, and which the caller answers. */
function pendingCallsOf(log: RunLog | undefined): readonly ToolCall[] {
  const end = log?.transcript.rows.at(-1)?.content;
  return end?.kind === "completed" ? end.value.pendingToolCalls : [];
}

function Head({
  session,
  live,
  onCancel,
  onFork,
}: {
  readonly session: Session;
  readonly live: { readonly run: Run; readonly log: RunLog } | undefined;
  readonly onCancel: (run: Run) => void;
  readonly onFork: () => void;
}) {
  const { sessionId, name, model, annotations, fork } = session;
  const evaluation = evaluationOf(annotations);
  const isRunning = live !== undefined && isActive(live.run.state);
  const [files, setFiles] = useParameter("files");
  return (
    <div className="inbox-head">
      <h2>
        <bdi>{visibleText(name)}</bdi>{" "}
        <span className="mono" title={sessionId}>
          {shortId(sessionId)}
        </span>
        <CopyButton text={sessionId} what="the id of the session" />
      </h2>
      {live !== undefined && <StateLabel state={live.run.state} />}
      {live !== undefined && (
        <StreamBadge
          phase={live.log.phase}
          at={live.log.cursor}
          resumed={live.log.resumed}
          onRetry={() => live.log.retry()}
        />
      )}
      {chipsOf(annotations).map((chip) => (
        <span key={chip} className="tag">
          <bdi>{visibleText(chip)}</bdi>
        </span>
      ))}
      {model !== "" && <span className="hint">{visibleText(model)}</span>}
      {fork !== undefined && (
        <span className="hint">
          fork of{" "}
          <Link href={`/sessions/${fork.sessionId}`} className="mono">
            {shortId(fork.sessionId)}
          </Link>
        </span>
      )}
      <div className="spacer" />
      <div className="actions">
        <Link href={`/runs?session=${encodeURIComponent(sessionId)}`} className="button">
          <Icon name="runs" />
          Its runs
        </Link>
        {evaluation !== undefined && (
          <Link href={`/evaluations/${encodeURIComponent(evaluation)}`} className="button">
            Its evaluation
          </Link>
        )}
        <button type="button" className="button" onClick={() => setFiles(".")}>
          <Icon name="download" />
          Files
        </button>
        {isRunning ? (
          <button
            type="button"
            className="button"
            disabled={live.run.cancelRequestTime !== undefined}
            onClick={() => onCancel(live.run)}
          >
            <Icon name="stop" />
            {live.run.cancelRequestTime === undefined ? "Cancel" : "Cancel requested"}
          </button>
        ) : (
          <button type="button" className="button" onClick={onFork}>
            <Icon name="fork" />
            Fork
          </button>
        )}
      </div>
      <Suspense>
        {files !== "" && (
          <FilesDialog sessionId={sessionId} path={files} onPath={setFiles} onClose={() => setFiles("")} />
        )}
      </Suspense>
    </div>
  );
}

function Messages({
  session: { sessionId },
  runs,
  live,
  onFork,
  onCancel,
}: {
  readonly session: Session;
  readonly runs: readonly Run[];
  readonly live: { readonly run: Run; readonly log: RunLog } | undefined;
  readonly onFork: (place: ForkPlace) => void;
  readonly onCancel: (run: Run) => void;
}) {
  const list = useInfiniteQuery(
    SessionService.method.listMessages,
    { sessionId, pageSize: messagesAtOnce, pageToken: "", order: ListMessagesRequest_Order.NEWEST_FIRST },
    { ...inPages, staleTime: 0 },
  );
  const forks = useQuery(SessionService.method.listSessions, { forkOf: sessionId, pageSize: 250 }, { staleTime: 0 });
  const shownRunId = useShownRun(live?.run.runId, list.refetch);
  const log = live !== undefined && live.run.runId === shownRunId && !isGone(live.log) ? live.log : undefined;
  const input = useQuery(
    RunService.method.getRunInput,
    { runId: live?.run.runId ?? "" },
    { enabled: live !== undefined, staleTime: Number.POSITIVE_INFINITY },
  );
  if (list.data === undefined) {
    return list.error === null ? (
      <Loading what="the messages" />
    ) : (
      <Failure error={list.error} onRetry={() => void list.refetch()} />
    );
  }
  const messages = list.data.pages.flatMap((page) => page.messages).toReversed();
  const logged = log && { runId: log.runId, input: input.data?.messages ?? [], rows: log.transcript.rows };
  const failed = new Set(runs.filter(({ error }) => error !== "").map(({ runId }) => runId));
  const rows = layConversation(messages, logged, failed);
  const waiting = runs.filter(isBehind).toReversed();
  const all = forks.data?.sessions ?? [];
  if (rows.length === 0 && waiting.length === 0) {
    return (
      <EmptyState title="No message yet">
        <p>What you write below starts the first run of this session.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Branches forks={all.filter(({ fork }) => fork?.runId === "" && fork.messageCount === 0)} />
      <Conversation
        rows={rows}
        live={log && live}
        waiting={waiting}
        runOf={(runId) => runs.find((run) => run.runId === runId)}
        forks={all}
        hasEarlier={list.hasNextPage}
        onEarlier={() => list.fetchNextPage({ cancelRefetch: false })}
        onFork={onFork}
        onCancel={onCancel}
      />
    </>
  );
}

/** Results of an old run may be deleted while its messages stay. */
function isGone({ phase, cursor }: RunLog): boolean {
  return phase.name === "refused" && cursor === 0;
}

/**
 * Returns the run whose log takes the place of its messages. A newer run comes after the messages of the run before it are loaded, so
 * that these do not disappear for a moment.
 */
function useShownRun(runId: string | undefined, loadMessages: () => Promise<unknown>): string | undefined {
  const [shown, setShown] = useState(runId);
  useEffect(() => {
    if (runId === shown) {
      return;
    }
    let isCurrent = true;
    void loadMessages().then(() => isCurrent && setShown(runId));
    return () => {
      isCurrent = false;
    };
  }, [runId, shown, loadMessages]);
  return shown;
}
