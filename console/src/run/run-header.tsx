// The head of a run: its state, the state of its stream, its numbers, and what a person can do with it.

import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link } from "wouter";
import { MemoryScope } from "#gen/runnel/v1/memory_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import type { GetRunInputResponse } from "#gen/runnel/v1/run_service_pb.js";
import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { useNow } from "../lib/clock.ts";
import { formatCost, formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { useMedia } from "../lib/media.ts";
import { plainError } from "../lib/plain-error.ts";
import { dueLater, isActive } from "../lib/run-state.ts";
import { visibleText } from "../lib/visible-text.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import type { RunLog } from "./run-log.ts";
import { runnerPath } from "./runner-path.ts";

const ShareDialog = lazy(() => import("../share/share-dialog.tsx"));
const ExportDialog = lazy(() => import("../export/export-dialog.tsx"));

export function RunHeader({
  run,
  log,
  input,
  isCancelling,
  onCancel,
}: {
  readonly run: Run;
  readonly log: RunLog;
  readonly input: GetRunInputResponse | undefined;
  readonly isCancelling: boolean;
  readonly onCancel: () => void;
}) {
  const [isSharing, setSharing] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const isRunning = isActive(run.state);
  const isWide = useMedia("(min-width: 821px)");
  const cancel = isRunning && (
    <button
      type="button"
      className="button"
      disabled={isCancelling || run.cancelRequestTime !== undefined}
      onClick={onCancel}
    >
      <Icon name="stop" />
      {run.cancelRequestTime === undefined ? "Cancel" : "Cancel requested"}
    </button>
  );
  const actions = (
    <div className="actions">
      <button type="button" className="button" onClick={() => setSharing(true)}>
        <Icon name="link" />
        Share
      </button>
      <button type="button" className="button" disabled={input === undefined} onClick={() => setExporting(true)}>
        <Icon name="download" />
        Export
      </button>
      <Others run={run} isRunning={isRunning}>
        {isWide && cancel}
      </Others>
    </div>
  );
  const facts = <Facts run={run} agent={input?.agent} isRunning={isRunning} />;
  return (
    <header className="run-head">
      <div className="view-head">
        <h1>
          <Link href="/runs" className="crumb">
            Runs
          </Link>
          <span className="mono" title={run.runId}>
            {shortId(run.runId)}
          </span>
          <CopyButton text={run.runId} what="the id of the run" />
        </h1>
        <StateLabel state={run.state} />
        <StreamBadge phase={log.phase} at={log.cursor} resumed={log.resumed} onRetry={() => log.retry()} />
        <div className="spacer" />
        {isWide ? actions : cancel}
      </div>
      {isWide ? (
        facts
      ) : (
        <details className="fold">
          <summary>
            <Icon name="chevron" />
            Facts and actions
          </summary>
          <div className="fold-body">
            {facts}
            {actions}
          </div>
        </details>
      )}
      {run.error !== "" && (
        <p className="run-error">
          <b>{run.failureCode}</b> {visibleText(plainError(run.error))}
        </p>
      )}
      {isExporting && input !== undefined && (
        <Suspense fallback={null}>
          <ExportDialog run={run} input={input} log={log} onClose={() => setExporting(false)} />
        </Suspense>
      )}
      {isSharing && (
        <Suspense fallback={null}>
          <ShareDialog runId={run.runId} onClose={() => setSharing(false)} />
        </Suspense>
      )}
    </header>
  );
}

/** What leads to other pages; `children` stand in their midst. */
function Others({
  run,
  isRunning,
  children,
}: {
  readonly run: Run;
  readonly isRunning: boolean;
  readonly children: ReactNode;
}) {
  const mayRepeat = run.driver === "llm-loop";
  return (
    <>
      <Link href={`/compare?a=${run.runId}`} className="button">
        <Icon name="swap" />
        Compare
      </Link>
      {!isRunning && (
        <Link href={`/runs/${run.runId}/receipt`} className="button">
          <Icon name="seal" />
          Receipt
        </Link>
      )}
      {children}
      {mayRepeat && (
        <Link href={`/new?from=${run.runId}`} className="button">
          <Icon name="again" />
          Run again
        </Link>
      )}
      {mayRepeat && !isRunning && (
        <Link href={`/new?from=${run.runId}&fork=${run.sessionId}`} className="button">
          <Icon name="fork" />
          Fork
        </Link>
      )}
    </>
  );
}

function Facts({
  run,
  agent,
  isRunning,
}: {
  readonly run: Run;
  readonly agent: Agent | undefined;
  readonly isRunning: boolean;
}) {
  const nowMs = useNow(isRunning);
  const [created, started, ended, deadline] = [run.createTime, run.startTime, run.endTime, run.deadlineTime].map(msOf);
  const { usage } = run;
  const dueMs = isRunning && started === undefined ? dueLater(run, nowMs) : undefined;
  return (
    <dl className="facts">
      <Fact name="waiting">{run.waitReason}</Fact>
      <Fact name="agent">{visibleText(run.agentName || (agent?.name ?? ""))}</Fact>
      <Fact name="model">{visibleText(run.model)}</Fact>
      <Fact name="runner">
        {run.runnerId !== "" && <Link href={runnerPath(run.runnerId)}>{visibleText(run.runnerId)}</Link>}
      </Fact>
      <Fact name="session">
        <Link href={sessionPath(run)} className="mono" title={run.sessionId}>
          {run.sessionId.length > 20 ? `…${run.sessionId.slice(-12)}` : run.sessionId}
        </Link>
      </Fact>
      <Fact name="memory">{agent !== undefined && hasMemory(agent) && <Memories run={run} agent={agent} />}</Fact>
      <Fact name="called by">
        {run.parentRunId !== "" && (
          <Link href={`/runs/${run.parentRunId}`} className="mono">
            {shortId(run.parentRunId)}
          </Link>
        )}
      </Fact>
      <Fact name="turns">{run.turns > 0 && formatCount(run.turns)}</Fact>
      <Fact name="tokens">
        {usage?.promptTokens !== undefined && (
          <>
            {formatCount(usage.promptTokens)} in · {formatCount(usage.completionTokens ?? 0n)} out
            {usage.estimated && " (estimated)"}
          </>
        )}
      </Fact>
      <Fact name="cost">
        {usage?.costMicroUsd !== undefined
          ? formatCost(Number(usage.costMicroUsd))
          : usage?.promptTokens !== undefined && "unknown"}
      </Fact>
      <Fact name="duration">{started !== undefined && formatDuration((ended ?? nowMs) - started)}</Fact>
      <Fact name="due">{dueMs !== undefined && `${formatTime(dueMs)}, in ${formatDuration(dueMs - nowMs)}`}</Fact>
      <Fact name={started === undefined ? "created" : "started"}>
        {created !== undefined && formatTime(started ?? created)}
      </Fact>
      <Fact name="taken over">{run.takeovers > 0 && `${run.takeovers}×`}</Fact>
      <Fact name="deadline">{isRunning && deadline !== undefined && `in ${formatDuration(deadline - nowMs)}`}</Fact>
    </dl>
  );
}

/** A child run and a run of a binding have sessions that SessionService does not show: their link leads to their runs. */
function sessionPath({ sessionId, parentRunId, bindingId }: Run): string {
  const id = encodeURIComponent(sessionId);
  return parentRunId === "" && bindingId === "" ? `/sessions/${id}` : `/runs?session=${id}`;
}

/** Leads to the memories that the tools of the agent reach. */
function Memories({ run, agent }: { readonly run: Run; readonly agent: Agent }) {
  const { memoryScopes: scopes = [] } = agent.tools ?? {};
  const has = (scope: MemoryScope): boolean => scopes.includes(scope);
  const name = run.agentName || agent.name;
  const memories = [
    // A run that was called has the memory of the session at the top of its tree.
    (scopes.length === 0 || has(MemoryScope.SESSION)) &&
      run.depth === 0 && ["session", `?session=${encodeURIComponent(run.sessionId)}`],
    has(MemoryScope.AGENT) && ["agent", `?agent=${encodeURIComponent(name)}`],
    has(MemoryScope.CLIENT) && ["client", ""],
  ].filter((each) => each !== false);
  return memories.map(([word = "", query = ""], index) => (
    <span key={word}>
      {index > 0 && " · "}
      <Link href={`/memory${query}`}>{word}</Link>
    </span>
  ));
}

/** Whether the agent has a tool of the memory. */
function hasMemory(agent: Agent): boolean {
  return agent.tools?.builtin.some((tool) => tool.startsWith("memory_")) === true;
}
