// The waterfall: one row for each span of a run, at its end while the run goes on. A row leads to its entry in the transcript. A zoom
// shows the spans around the chosen one, or around the newest.

import { memo, useState } from "react";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { useNow } from "../lib/clock.ts";
import { formatCount, formatDuration, msOf } from "../lib/format.ts";
import { dueLater } from "../lib/run-state.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import type { RunLog } from "./run-log.ts";
import { makeScale, type Scale, type Span } from "./timeline.ts";

const rowPx = 28;
const zoomStep = 2;
/** Closer, a span of a second fills the row even in a run of an hour. */
const zoomMax = 4_096;

export function TimelinePane({
  log,
  run,
  isRunning,
  sequence,
  onSelect,
}: {
  readonly log: RunLog;
  readonly run: Run | undefined;
  readonly isRunning: boolean;
  readonly sequence: number | undefined;
  readonly onSelect: (sequence: number) => void;
}) {
  const nowMs = useNow(isRunning);
  const [follows, setFollows] = useState(() => isRunning && sequence === undefined);
  const [zoom, setZoom] = useState(1);
  const { spans: kept, dropped } = log.timeline;
  const isWhole = dropped === 0;
  const all = [...(run !== undefined && isWhole ? queueOf(run, nowMs) : []), ...kept];
  const firstMs = Math.min(...all.map((span) => span.startMs), (isWhole ? msOf(run?.createTime) : undefined) ?? nowMs);
  const lastMs = Math.max(firstMs, ...all.map((span) => span.endMs ?? span.startMs));
  const nowOrLastMs = isRunning ? Math.max(nowMs, lastMs) : lastMs;
  const chosen = all.findLast((span) => sequence !== undefined && span.sequence <= sequence && span.kind !== "turn");
  const lengthMs = (nowOrLastMs - firstMs) / zoom;
  const aroundMs = chosen === undefined ? nowOrLastMs : (chosen.startMs + (chosen.endMs ?? nowOrLastMs)) / 2;
  const startMs = Math.max(firstMs, Math.min(aroundMs - lengthMs / 2, nowOrLastMs - lengthMs));
  const endMs = startMs + lengthMs;
  const spans =
    zoom === 1 ? all : all.filter((span) => span.startMs <= endMs && (span.endMs ?? nowOrLastMs) >= startMs);
  const scale = makeScale(spans, startMs, endMs);
  return (
    <div className="waterfall">
      <div className="waterfall-axis">
        <div className="waterfall-zoom">
          <button
            type="button"
            className="button quiet icon-only"
            aria-label="Show more of the time"
            disabled={zoom === 1}
            onClick={() => setZoom(zoom / zoomStep)}
          >
            <Icon name="minus" />
          </button>
          <button
            type="button"
            className="button quiet icon-only"
            aria-label="Look closer"
            disabled={zoom >= zoomMax}
            onClick={() => setZoom(zoom * zoomStep)}
          >
            <Icon name="plus" />
          </button>
        </div>
        <span>{zoom === 1 ? "0" : formatDuration(startMs - firstMs)}</span>
        <span>{formatDuration(endMs - firstMs)}</span>
      </div>
      <VirtualList
        className="waterfall-rows"
        role="list"
        label="Waterfall"
        count={spans.length}
        rowPx={rowPx}
        follows={follows && isRunning}
        onFollows={setFollows}
        keyOf={(index) => `${spans[index]?.kind}${spans[index]?.sequence}`}
        render={(index) => {
          const span = spans[index];
          return (
            span && (
              <SpanRow
                span={span}
                endMs={span.endMs ?? nowOrLastMs}
                scale={scale}
                isChosen={span === chosen}
                onSelect={onSelect}
              />
            )
          );
        }}
      />
      <p className="hint waterfall-note">
        Bars are drawn from the log: the calls of one turn are written when the last of them has ended.
        {!isWhole && ` It has the newest ${formatCount(kept.length)} of ${formatCount(kept.length + dropped)}.`}
        {scale.breaks.length > 0 && " Hatched gaps are cut short."}
      </p>
    </div>
  );
}

/** The time before a replica worked on the run; a run that was due later waited only from then. */
function queueOf(run: Run, nowMs: number): Span[] {
  const [createdMs, startedMs, dueMs = 0] = [run.createTime, run.startTime, run.dueTime].map(msOf);
  if (createdMs === undefined) {
    return [];
  }
  return run.startTime === undefined && dueLater(run, nowMs) !== undefined
    ? [{ kind: "wait", label: "until due", sequence: 1, startMs: createdMs, endMs: undefined }]
    : [{ kind: "queue", label: "queue", sequence: 1, startMs: Math.max(createdMs, dueMs), endMs: startedMs }];
}

const SpanRow = memo(function SpanRow({
  span,
  endMs,
  scale,
  isChosen,
  onSelect,
}: {
  readonly span: Span;
  readonly endMs: number;
  readonly scale: Scale;
  readonly isChosen: boolean;
  readonly onSelect: (sequence: number) => void;
}) {
  const from = scale.place(span.startMs);
  const to = scale.place(endMs);
  const duration = formatDuration(endMs - span.startMs);
  const first = span.firstTextMs;
  return (
    <button
      type="button"
      className="span"
      data-kind={span.kind}
      data-void={span.isVoid || undefined}
      data-failed={span.isFailed || undefined}
      aria-pressed={isChosen}
      title={`${span.label}: ${duration}${first === undefined ? "" : `, first text after ${formatDuration(first - span.startMs)}`}`}
      onClick={() => onSelect(span.sequence)}
    >
      <span className="span-label">{visibleText(span.label)}</span>
      <span className="span-track">
        {scale.breaks.map((gap) => (
          <span
            key={gap.from}
            className="span-break"
            style={{ left: percent(gap.from), width: percent(gap.to - gap.from) }}
          />
        ))}
        <span
          className="span-bar"
          data-open={span.endMs === undefined || undefined}
          style={{ left: percent(from), width: `max(3px, ${percent(to - from)})` }}
        >
          {first !== undefined && (
            <span className="span-first" style={{ width: percent(share(from, scale.place(first), to)) }} />
          )}
        </span>
      </span>
      <span className="span-time">{duration}</span>
    </button>
  );
});

function share(from: number, at: number, to: number): number {
  return to > from ? (at - from) / (to - from) : 0;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}
