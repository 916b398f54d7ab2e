// A run beside its repetition, and what a person thinks of it.

import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { failureText } from "../lib/failure-text.ts";
import { formatCost, formatCount, formatDuration, msOf, shortId } from "../lib/format.ts";
import { causeOf } from "../lib/plain-error.ts";
import { isActive } from "../lib/run-state.ts";
import { visibleText } from "../lib/visible-text.ts";
import { StateLabel } from "../ui/state-label.tsx";
import type { Repetition, Verdict } from "./repeat.ts";

/** What has become of a run: its repetition, or why it was not started. */
export type Outcome = Repetition | { readonly error: unknown };

const refreshMs = 3_000;
/** The whole text is in the run, which the cell leads to. */
const shownChars = 400;
const noteChars = 500;
const marks = ["good", "same", "worse"] as const;

function useRun(runId: string | undefined): Run | undefined {
  const { data } = useQuery(
    RunService.method.getRun,
    { runId: runId ?? "" },
    {
      enabled: runId !== undefined,
      refetchInterval: ({ state }) => (state.data?.run && !isActive(state.data.run.state) ? false : refreshMs),
    },
  );
  return data?.run;
}

export function EvaluationRow({
  source,
  outcome,
  onStart,
  onJudge,
}: {
  readonly source: string;
  readonly outcome: Outcome | undefined;
  readonly onStart: () => void;
  readonly onJudge: (verdict: Verdict) => void;
}) {
  const repetition = outcome !== undefined && "runId" in outcome ? outcome : undefined;
  const original = useRun(source);
  const run = useRun(repetition?.runId);
  return (
    <tr>
      <th scope="row">
        <bdi>{visibleText(original?.inputExcerpt ?? "")}</bdi>
      </th>
      <td>
        <Answer runId={source} run={original} />
      </td>
      <td>
        {repetition !== undefined && <Answer runId={repetition.runId} run={run} />}
        {outcome === undefined && "starts …"}
        {outcome !== undefined && "error" in outcome && (
          <>
            <span className="problem" role="alert">
              Not started: {visibleText(failureText(outcome.error))}
            </span>{" "}
            <button type="button" className="link" onClick={onStart}>
              Try again
            </button>
          </>
        )}
      </td>
      <td>{run !== undefined && <StateLabel state={run.state} />}</td>
      <td className="beside">{beside(original, run, tokensOf)}</td>
      <td className="beside">{beside(original, run, costOf)}</td>
      <td className="beside">{beside(original, run, durationOf)}</td>
      <td>
        {repetition !== undefined && (
          <Link href={`/compare?${new URLSearchParams({ a: source, b: repetition.runId })}`}>
            Compare<span className="unseen"> {shortId(source)} with its repetition</span>
          </Link>
        )}
      </td>
      {repetition === undefined ? (
        <>
          <td />
          <td />
        </>
      ) : (
        <Judgement source={source} verdict={repetition.verdict} onJudge={onJudge} />
      )}
    </tr>
  );
}

function Judgement({
  source,
  verdict,
  onJudge,
}: {
  readonly source: string;
  readonly verdict: Verdict;
  readonly onJudge: (verdict: Verdict) => void;
}) {
  const [note, setNote] = useState(verdict.note);
  return (
    <>
      <td>
        <select
          className="input"
          aria-label={`Mark of the repetition of ${shortId(source)}`}
          value={verdict.mark}
          onChange={({ currentTarget: { value } }) => onJudge({ note, mark: value as Verdict["mark"] })}
        >
          <option value="">–</option>
          {marks.map((mark) => (
            <option key={mark}>{mark}</option>
          ))}
        </select>
      </td>
      <td>
        <input
          className="input"
          aria-label={`Note about the repetition of ${shortId(source)}`}
          value={note}
          maxLength={noteChars}
          onInput={(event) => setNote(event.currentTarget.value)}
          onBlur={() => {
            if (note !== verdict.note) {
              onJudge({ ...verdict, note });
            }
          }}
        />
      </td>
    </>
  );
}

function Answer({ runId, run }: { readonly runId: string; readonly run: Run | undefined }) {
  const isFailed = run !== undefined && (run.failureCode !== "" || run.error !== "");
  const text = run === undefined ? "" : isFailed ? `${causeOf(run.error)} ${run.failureCode}` : run.output;
  return (
    <>
      <Link href={`/runs/${runId}`} className="mono" title={runId}>
        {shortId(runId)}
      </Link>{" "}
      <bdi data-failed={isFailed || undefined}>
        {visibleText(text.length > shownChars ? `${text.slice(0, shownChars)} …` : text)}
      </bdi>
    </>
  );
}

/** Shows a number of the original, and below it that of the repetition. */
function beside(original: Run | undefined, run: Run | undefined, read: (run: Run) => string): string {
  const [one, other] = [original, run].map((each) => (each === undefined ? "–" : read(each)));
  return `${one}\n→ ${other}`;
}

function tokensOf({ usage }: Run): string {
  return usage?.totalTokens === undefined ? "unknown" : formatCount(Number(usage.totalTokens));
}

function costOf({ usage }: Run): string {
  return usage?.costMicroUsd === undefined ? "unknown" : formatCost(Number(usage.costMicroUsd));
}

function durationOf({ startTime, endTime }: Run): string {
  const [started, ended] = [startTime, endTime].map(msOf);
  return started === undefined || ended === undefined ? "–" : formatDuration(ended - started);
}
