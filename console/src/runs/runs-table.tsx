// The list of runs as a table: its head and its rows.

import { type CSSProperties, lazy, memo, type ReactNode, Suspense, useState } from "react";
import { Link } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { chipsOf } from "../lib/annotations.ts";
import {
  formatAge,
  formatCost,
  formatCount,
  formatCountdown,
  formatDuration,
  formatShort,
  formatTime,
  msOf,
  shortId,
} from "../lib/format.ts";
import { keepListPlace, readListPlace } from "../lib/list-place.ts";
import { causeOf } from "../lib/plain-error.ts";
import { dueLater, isActive } from "../lib/run-state.ts";
import { visibleText } from "../lib/visible-text.ts";
import { StateLabel } from "../ui/state-label.tsx";
import { type Column, useLayout } from "./columns.ts";
import type { Place, RowKeys, Rows } from "./moving-rows.tsx";

const MovingRows = lazy(() => import("./moving-rows.tsx"));
const rowPx = 38;
/** Where the result stands below the input. */
const stackedPx = 52;
const cardPx = 100;

export function RunsTable({
  runs,
  nowMs,
  hasMore,
  marked,
  onMark,
  onEnd,
  onOpen,
}: {
  readonly runs: readonly Run[];
  readonly nowMs: number;
  readonly hasMore: boolean;
  /** The ids of the runs that a person has marked. */
  readonly marked: readonly string[];
  readonly onMark: (runId: string) => void;
  readonly onEnd: () => void;
  readonly onOpen: (runId: string) => void;
}) {
  const { shown, isCard, stack, template } = useLayout();
  const px = isCard ? cardPx : stack !== undefined ? stackedPx : rowPx;
  // Back from a run leads to the row that led there, and the rows that move continue where those that stood still are.
  const [place] = useState<Place>(() => ({ top: 0, id: undefined, ...readListPlace() }));
  const row = (run: Run, index: number, keys: RowKeys): ReactNode => (
    <RunRow
      run={run}
      index={index}
      columns={shown}
      nowMs={shownTime(run, nowMs)}
      isMarked={marked.includes(run.runId)}
      onMark={onMark}
      {...keys}
    />
  );
  return (
    <div
      className="table"
      role="table"
      aria-label="Runs"
      aria-rowcount={hasMore ? -1 : runs.length + 1}
      data-stacked={stack !== undefined || undefined}
      style={{ "--columns": template, "--stack": stack } as CSSProperties}
    >
      <div className="table-head" role="row" aria-rowindex={1}>
        {shown.map((name) => (
          <span key={name} role="columnheader" data-column={name}>
            {`${name.charAt(0).toUpperCase()}${name.slice(1)}`}
          </span>
        ))}
      </div>
      <Suspense fallback={<StillRows runs={runs} rowPx={px} row={row} place={place} />}>
        <MovingRows runs={runs} rowPx={px} row={row} place={place} onEnd={onEnd} onOpen={onOpen} />
      </Suspense>
    </div>
  );
}

/** The first rows, until the browser has the script that scrolls through all. */
function StillRows({ runs, rowPx, row, place }: Rows) {
  const keys: RowKeys = {
    onFocus: (runId) => {
      place.id = runId;
    },
    onLeave: (id) => keepListPlace({ top: place.top, id }),
  };
  return (
    <div
      className="virtual table-body"
      onScroll={({ currentTarget }) => {
        place.top = currentTarget.scrollTop;
      }}
    >
      <div className="virtual-space" role="rowgroup" style={{ height: `${runs.length * rowPx}px` }}>
        {runs.slice(0, Math.ceil(innerHeight / rowPx)).map((run, index) => (
          <div key={run.runId} role="presentation" style={{ height: `${rowPx}px` }}>
            {row(run, index, keys)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The age of an older run that has ended changes with the minute only, so its row needs no rendering each second. */
function shownTime(run: Run, nowMs: number): number {
  const createdMs = msOf(run.createTime) ?? nowMs;
  const minutes = Math.floor((nowMs - createdMs) / 60_000);
  return isActive(run.state) || minutes === 0 ? nowMs : createdMs + minutes * 60_000;
}

const RunRow = memo(function RunRow({
  run,
  index,
  columns,
  nowMs,
  isMarked,
  onMark,
  onFocus,
  onLeave,
}: {
  readonly run: Run;
  readonly index: number;
  readonly columns: readonly Column[];
  readonly nowMs: number;
  readonly isMarked: boolean;
  readonly onMark: (runId: string) => void;
} & RowKeys) {
  const created = msOf(run.createTime) ?? nowMs;
  const started = msOf(run.startTime);
  const ended = msOf(run.endTime);
  const dueMs = dueLater(run, nowMs);
  const tokens = run.usage?.totalTokens ?? sum(run.usage?.promptTokens, run.usage?.completionTokens);
  const cells: Readonly<Record<Column, ReactNode>> = {
    state: (
      <span key="state" role="cell" data-column="state">
        <label className="mark">
          <input
            type="checkbox"
            checked={isMarked}
            aria-label={`Mark ${shortId(run.runId)}`}
            onChange={() => onMark(run.runId)}
          />
        </label>
        <StateLabel state={run.state} />
      </span>
    ),
    run: (
      <span key="run" role="cell" data-column="run">
        <Link
          href={`/runs/${run.runId}`}
          className="mono row-link"
          title={run.runId}
          onFocus={() => onFocus(run.runId)}
          onClick={() => onLeave(run.runId)}
        >
          {shortId(run.runId)}
        </Link>
      </span>
    ),
    agent: (
      <span key="agent" role="cell" data-column="agent">
        {visibleText(run.agentName || run.runnerId || run.driver)}
      </span>
    ),
    input: (
      <span key="input" role="cell" data-column="input">
        <bdi>{visibleText(run.inputExcerpt)}</bdi>
        {chipsOf(run.annotations).map((chip) => (
          <span key={chip} className="tag">
            <bdi>{visibleText(chip)}</bdi>
          </span>
        ))}
      </span>
    ),
    result: (
      <span key="result" role="cell" data-column="result" data-failed={run.error !== "" || undefined}>
        <Outcome run={run} />
      </span>
    ),
    session: (
      <span key="session" role="cell" data-column="session" className="mono" title={run.sessionId}>
        {shortId(run.sessionId)}
      </span>
    ),
    model: (
      <span key="model" role="cell" data-column="model">
        {visibleText(run.model)}
      </span>
    ),
    turns: (
      <span key="turns" role="cell" data-column="turns">
        {run.turns > 0 ? formatCount(run.turns) : ""}
      </span>
    ),
    tokens: (
      <span key="tokens" role="cell" data-column="tokens">
        {tokens === undefined ? "" : formatShort(Number(tokens))}
      </span>
    ),
    cost: (
      <span key="cost" role="cell" data-column="cost">
        {formatCostOf(run)}
      </span>
    ),
    started: (
      <span
        key="started"
        role="cell"
        data-column="started"
        title={dueMs === undefined ? formatTime(created) : `due ${formatTime(dueMs)}`}
      >
        {dueMs === undefined ? formatAge(nowMs - created) : `in ${formatCountdown(dueMs - nowMs)}`}
      </span>
    ),
    duration: (
      <span key="duration" role="cell" data-column="duration">
        {started === undefined ? "" : formatDuration((ended ?? nowMs) - started)}
      </span>
    ),
  };
  return (
    <div className="run-row" role="row" aria-rowindex={index + 2}>
      {columns.map((name) => cells[name])}
    </div>
  );
});

function Outcome({ run }: { readonly run: Run }) {
  if (run.failureCode !== "" || run.error !== "") {
    return (
      <>
        <bdi>{visibleText(causeOf(run.error).slice(0, errorCharsMax))}</bdi> <b>{run.failureCode}</b>
      </>
    );
  }
  if (run.waitReason !== "") {
    return <>waiting: {run.waitReason}</>;
  }
  return <bdi>{visibleText(plainText(run.output))}</bdi>;
}

/** More does not fit into a row. */
const errorCharsMax = 200;

/** Leaves the marks of Markdown out, which would be all that a row shows of a heading or a list. */
function plainText(markdown: string): string {
  return markdown.replace(/^(?:#{1,6}|[-*>]) /gm, "").replace(/\*\*|`/g, "");
}

/** A model without a known price has no cost, which differs from 0. */
function formatCostOf({ state, turns, usage }: Run): string {
  if (usage?.costMicroUsd !== undefined) {
    return formatCost(Number(usage.costMicroUsd));
  }
  return isActive(state) || (turns === 0 && usage === undefined) ? "" : "unknown";
}

function sum(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0n) + (other ?? 0n);
}
