// Two runs side by side: their numbers, their settings and inputs, and what each turn said and called.

import { toJsonString } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { type GetRunInputResponse, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { textOf } from "../../../src/platform/run-view/entry.ts";
import { formatCost, formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { plainError } from "../lib/plain-error.ts";
import { isActive } from "../lib/run-state.ts";
import { setTitle } from "../lib/title.ts";
import { visibleText } from "../lib/visible-text.ts";
import { useRunLog } from "../run/kept-logs.ts";
import type { RunLog } from "../run/run-log.ts";
import { shortOutput } from "../runs/run-changes.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { ChooseRun } from "./choose-run.tsx";
import { Pair } from "./pair.tsx";
import { countCalls, turnsOf } from "./turns.ts";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function CompareView() {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const [left, right] = [parameters.get("a") ?? "", parameters.get("b") ?? ""];
  useEffect(() => setTitle("Compare"), []);
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Compare runs</h1>
        <div className="spacer" />
        {left !== "" && right !== "" && (
          <button
            type="button"
            className="button"
            onClick={() => navigate(`/compare?${new URLSearchParams({ a: right, b: left })}`, { replace: true })}
          >
            <Icon name="swap" />
            Swap
          </button>
        )}
      </header>
      {left === "" || right === "" ? (
        <ChooseRun left={left || right} />
      ) : (
        <Comparison key={`${left} ${right}`} left={left} right={right} />
      )}
    </div>
  );
}

interface Side {
  readonly run: Run;
  readonly input: GetRunInputResponse;
  readonly log: RunLog;
}

/** The log tells most changes; the numbers of an active run show by this. */
const refreshMs = 3_000;

function useSide(runId: string) {
  const log = useRunLog(runId);
  const run = useQuery(
    RunService.method.getRun,
    { runId, ...shortOutput },
    { refetchInterval: ({ state }) => (state.data?.run && !isActive(state.data.run.state) ? false : refreshMs) },
  );
  const input = useQuery(RunService.method.getRunInput, { runId }, { staleTime: Number.POSITIVE_INFINITY });
  const side: Side | undefined =
    run.data?.run !== undefined && input.data !== undefined ? { run: run.data.run, input: input.data, log } : undefined;
  return { side, error: run.error ?? input.error, retry: () => void Promise.all([run.refetch(), input.refetch()]) };
}

function Comparison({ left, right }: { readonly left: string; readonly right: string }) {
  const sides = [useSide(left), useSide(right)];
  const failed = sides.find(({ error }) => error !== null);
  if (failed !== undefined) {
    return <Failure error={failed.error} onRetry={failed.retry} />;
  }
  const [one, other] = sides.map(({ side }) => side);
  if (one === undefined || other === undefined) {
    return <Loading what="the runs" />;
  }
  return (
    <>
      <Numbers one={one} other={other} />
      <section className="panel" aria-labelledby="compare-before">
        <h2 id="compare-before">Settings and input</h2>
        <Pair title="Settings" left={settingsOf(one)} right={settingsOf(other)} />
        <Pair title="Input" left={inputOf(one)} right={inputOf(other)} />
      </section>
      <Turns one={one} other={other} />
    </>
  );
}

function settingsOf({ input: { agent } }: Side): string {
  return agent === undefined ? "" : toJsonString(AgentSchema, agent, { prettySpaces: 2, useProtoFieldName: true });
}

function inputOf({ input: { messages } }: Side): string {
  return messages.map((message) => `${message.role}: ${textOf(message)}`).join("\n\n");
}

function Turns({ one, other }: { readonly one: Side; readonly other: Side }) {
  const [left, right] = [one, other].map(({ log }) => turnsOf(log.transcript.rows));
  const count = Math.max(left?.length ?? 0, right?.length ?? 0);
  return Array.from({ length: count }, (_, index) => (
    <section key={index} className="panel" aria-labelledby={`compare-turn-${index}`}>
      <h2 id={`compare-turn-${index}`}>Turn {index + 1}</h2>
      <Pair title="Tool calls" left={left?.[index]?.calls ?? ""} right={right?.[index]?.calls ?? ""} />
      <Pair title="Text" left={left?.[index]?.text ?? ""} right={right?.[index]?.text ?? ""} />
    </section>
  ));
}

function Numbers({ one, other }: { readonly one: Side; readonly other: Side }) {
  const [left, right] = [factsOf(one), factsOf(other)];
  return (
    <section className="panel" aria-labelledby="compare-numbers">
      <h2 id="compare-numbers">Numbers</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="scroll" role="group" aria-label="Numbers" tabIndex={0}>
        <table className="numbers compared" aria-labelledby="compare-numbers">
          <thead>
            <tr>
              <th scope="col">Run</th>
              {[one, other].map(({ run }, index) => (
                <th key={index} scope="col">
                  <Link href={`/runs/${run.runId}`} className="mono" title={run.runId}>
                    {shortId(run.runId)}
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr data-differs={one.run.state !== other.run.state || undefined}>
              <th scope="row">state</th>
              {[one, other].map(({ run }, index) => (
                <td key={index}>
                  <StateLabel state={run.state} />
                </td>
              ))}
            </tr>
            {left.map(([name, value], index) => (
              <tr key={name} data-differs={value !== right[index]?.[1] || undefined}>
                <th scope="row">{name}</th>
                <td>{value}</td>
                <td>{right[index]?.[1]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function factsOf({ run, log }: Side): readonly (readonly [name: string, value: string])[] {
  const { usage } = run;
  const [created, started, ended] = [run.createTime, run.startTime, run.endTime].map(msOf);
  return [
    ["agent", visibleText(run.agentName || run.runnerId || run.driver)],
    ["model", visibleText(run.model)],
    ["turns", formatCount(run.turns)],
    ["tool calls", formatCount(countCalls(log.transcript.rows))],
    ["input tokens", usage?.promptTokens === undefined ? "unknown" : formatCount(usage.promptTokens)],
    ["output tokens", usage?.completionTokens === undefined ? "unknown" : formatCount(usage.completionTokens)],
    ["cost", usage?.costMicroUsd === undefined ? "unknown" : formatCost(Number(usage.costMicroUsd))],
    ["duration", started === undefined || ended === undefined ? "–" : formatDuration(ended - started)],
    ["created", created === undefined ? "–" : formatTime(created)],
    ["failure", `${run.failureCode} ${visibleText(plainError(run.error))}`.trim()],
  ];
}
