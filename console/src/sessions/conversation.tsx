// The messages of a session with its runs, oldest first. It follows the end while a run works, until one scrolls up.

import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import type { Session } from "#gen/runnel/v1/session_pb.js";
import { shortId } from "../lib/format.ts";
import { causeOf } from "../lib/plain-error.ts";
import { isActive } from "../lib/run-state.ts";
import { useShortcuts } from "../lib/shortcuts.ts";
import { visibleText } from "../lib/visible-text.ts";
import { LiveSpeech } from "../run/live-speech.tsx";
import { MessageBody } from "../run/message-body.tsx";
import { Plan } from "../run/plan.tsx";
import type { RunLog } from "../run/run-log.ts";
import { ToolCall } from "../run/tool-call.tsx";
import { isOpenCall, Said, TranscriptRow } from "../run/transcript-row.tsx";
import { Icon } from "../ui/icon.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { VirtualList, type VirtualListHandle } from "../ui/virtual-list.tsx";
import type { ConversationRow } from "./conversation-rows.ts";

const rowPx = 72;
const causeChars = 300;

/** The place of a fork. */
export interface ForkPlace {
  readonly runId?: string;
  readonly messageCount?: number;
}

export interface ConversationProps {
  readonly rows: readonly ConversationRow[];
  /** The run whose log is shown, and its log. */
  readonly live: { readonly run: Run; readonly log: RunLog } | undefined;
  /** The runs that wait for those before them, oldest first. */
  readonly waiting: readonly Run[];
  readonly runOf: (runId: string) => Run | undefined;
  readonly forks: readonly Session[];
  readonly hasEarlier: boolean;
  readonly onEarlier: () => Promise<unknown>;
  readonly onFork: (place: ForkPlace) => void;
  readonly onCancel: (run: Run) => void;
}

export function Conversation(props: ConversationProps) {
  const { rows, live, waiting, hasEarlier, onEarlier } = props;
  const list = useRef<VirtualListHandle>(null);
  const [follows, setFollows] = useState(true);
  const isRunning = live !== undefined && isActive(live.run.state);
  useShortcuts({ End: () => setFollows(true) });
  // Earlier messages arrive above: what a person reads stays in sight.
  const [first] = rows;
  const kept = useRef(first?.key);
  useEffect(() => {
    const at = rows.findIndex(({ key }) => key === kept.current);
    if (at > 0 && !follows) {
      list.current?.scrollTo(at);
    }
    kept.current = first?.key;
  }, [rows, first, follows]);
  const plan = live?.log.transcript.plan;
  const extra = hasEarlier ? 1 : 0;
  const count = extra + rows.length + waiting.length;
  return (
    <div className="transcript">
      {plan !== undefined && plan.entries.length > 0 && <Plan entries={plan.entries} />}
      <VirtualList
        handle={list}
        className="transcript-rows conversation"
        role="list"
        label="Conversation"
        isFocusable
        isMeasured
        count={count}
        rowPx={rowPx}
        keyOf={(at) =>
          at < extra ? "earlier" : (rows[at - extra]?.key ?? waiting[at - extra - rows.length]?.runId ?? at)
        }
        follows={follows}
        onFollows={setFollows}
        render={(at) => {
          if (at < extra) {
            return <Earlier onEarlier={onEarlier} onClick={() => setFollows(false)} />;
          }
          const row = rows[at - extra];
          const run = waiting[at - extra - rows.length];
          return row !== undefined ? (
            <OneRow row={row} {...props} />
          ) : (
            run !== undefined && <Waiting run={run} onCancel={props.onCancel} />
          );
        }}
      />
      {!follows && isRunning && (
        <button type="button" className="button follow" onClick={() => setFollows(true)}>
          <Icon name="down" />
          Follow the end
        </button>
      )}
      {live !== undefined && <LiveSpeech log={live.log} />}
    </div>
  );
}

function Earlier({ onEarlier, onClick }: { readonly onEarlier: () => Promise<unknown>; readonly onClick: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const load = async (): Promise<void> => {
    onClick();
    setBusy(true);
    await onEarlier();
    setBusy(false);
  };
  return (
    <div className="actions earlier">
      <button type="button" className="button" disabled={isBusy} onClick={() => void load()}>
        Earlier messages
      </button>
    </div>
  );
}

function OneRow({ row, live, runOf, forks, onFork }: ConversationProps & { readonly row: ConversationRow }) {
  switch (row.kind) {
    case "run":
      return <RunHead runId={row.runId} run={runOf(row.runId)} forks={forks} onFork={onFork} />;
    case "end":
      return <RunEnd runId={row.runId} run={runOf(row.runId)} />;
    case "call":
      return (
        <article className="row">
          <ToolCall startMs={0} content={row.content} />
        </article>
      );
    case "entry":
      return (
        live !== undefined && (
          <TranscriptRow
            row={row.row}
            version={row.row.version}
            href={`/runs/${live.run.runId}?tab=entries&seq=${row.row.sequence}`}
            isRunning={isActive(live.run.state)}
            mayDecide
            isChosen={false}
            isParked={live.run.state === Run_State.WAITING && isOpenCall(row.row)}
          />
        )
      );
    case "message": {
      const { message, number } = row;
      const who = message?.role ?? "user";
      const said = (
        <Said who={who}>
          <MessageBody message={message} />
        </Said>
      );
      return (
        <>
          {who === "assistant" ? <article className="row">{said}</article> : said}
          {number !== undefined && (
            <button
              type="button"
              className="button quiet icon-only fork-here"
              aria-label={`Fork after message ${number}`}
              title={`Fork after message ${number}`}
              onClick={() => onFork({ messageCount: number })}
            >
              <Icon name="fork" />
            </button>
          )}
          <Branches forks={forks.filter(({ fork }) => number !== undefined && fork?.messageCount === number)} />
        </>
      );
    }
    default:
      return row satisfies never;
  }
}

/** Where a run begins: its state, and the forks that continue after it. */
function RunHead({
  runId,
  run,
  forks,
  onFork,
}: {
  readonly runId: string;
  readonly run: Run | undefined;
  readonly forks: readonly Session[];
  readonly onFork: (place: ForkPlace) => void;
}) {
  return (
    <div className="run-part">
      <p className="divider">
        <Link href={`/runs/${runId}`} title={runId}>
          run <span className="mono">{shortId(runId)}</span>
        </Link>
        {run !== undefined && <StateLabel state={run.state} />}
        {run !== undefined && !isActive(run.state) && (
          <button type="button" className="link" onClick={() => onFork({ runId })}>
            Fork after it
          </button>
        )}
      </p>
      <Branches forks={forks.filter(({ fork }) => fork?.runId === runId)} />
    </div>
  );
}

/** Why a run has no answer. A text that it had begun is no message of the session: its log has it. */
function RunEnd({ runId, run }: { readonly runId: string; readonly run: Run | undefined }) {
  return run?.state === Run_State.CANCELLED ? (
    <div className="run-part">
      <p className="hint">
        Cancelled. <Link href={`/runs/${runId}`}>Its run</Link> has what it had written.
      </p>
    </div>
  ) : (
    <div className="run-part">
      <p className="run-error">
        <b>{run?.failureCode}</b> {visibleText(causeOf(run?.error ?? "").slice(0, causeChars))}
      </p>
    </div>
  );
}

/** The sessions that continue from here. */
export function Branches({ forks }: { readonly forks: readonly Session[] }) {
  return forks.length === 0 ? null : (
    <ul className="branches" aria-label="Forks from here">
      {forks.map(({ sessionId, name }) => (
        <li key={sessionId}>
          <Icon name="fork" />
          <Link href={`/sessions/${sessionId}`}>
            <bdi>{visibleText(name)}</bdi> <span className="mono">{shortId(sessionId)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** A message that waits for the runs before it. The model has not seen it. */
function Waiting({ run, onCancel }: { readonly run: Run; readonly onCancel: (run: Run) => void }) {
  return (
    <div className="said waiting" data-who="user">
      <p className="who">
        user <StateLabel state={run.state} />
      </p>
      <p dir="auto">{visibleText(run.inputExcerpt)}</p>
      <div className="actions">
        <span className="hint">It begins when the run before it has ended.</span>
        <button
          type="button"
          className="link"
          disabled={run.cancelRequestTime !== undefined}
          onClick={() => onCancel(run)}
        >
          Take it back
        </button>
        <Link href={`/runs/${run.runId}`}>
          run <span className="mono">{shortId(run.runId)}</span>
        </Link>
      </div>
    </div>
  );
}
