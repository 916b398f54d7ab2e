// What the runs of a runner met: the results that the host dropped or refused, and their requests to the host.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import {
  type AuditEntry,
  ResultDisposition,
  type ResultVerdict,
  RunnerService,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { useNow } from "../lib/clock.ts";
import { formatAge, formatCount, formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { withParameter } from "../lib/parameters.ts";
import { visibleText } from "../lib/visible-text.ts";
import { More } from "../ui/more.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { refreshMs } from "./describe.ts";

const options = { ...inPages, refetchInterval: refreshMs };

/** The records of a runner, or of one of its bindings. The address says of which run; without one, the newest run or all. */
export function Records({ runnerId, bindingId }: { readonly runnerId: string; readonly bindingId?: string }) {
  const [parameters, setParameters] = useSearchParams();
  const list = useInfiniteQuery(RunService.method.listRuns, { runnerId, pageSize: 20, pageToken: "" }, options);
  const listed = list.data?.pages.flatMap((page) => page.runs);
  const runs = listed?.filter((run) => bindingId === undefined || run.bindingId === bindingId) ?? [];
  // The audit of all runs names the runner of each entry, and no binding.
  const runId = parameters.get("run") ?? (bindingId === undefined ? undefined : runs[0]?.runId);
  const isDenied = parameters.get("only") === "denied";
  return (
    <section className="panel" aria-label="Runs and refusals">
      <div className="panel-head">
        <h2>Its runs, and what the host refused</h2>
        <label className="chip">
          <input
            type="checkbox"
            checked={isDenied}
            onChange={() =>
              setParameters((current) => withParameter(current, "only", isDenied ? "" : "denied"), { replace: true })
            }
          />
          denied only
        </label>
      </div>
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {listed === undefined && list.error === null && <Loading what="runs" />}
      {listed?.length === 0 && (
        <p className="hint">
          {list.hasNextPage
            ? "None of the newest runs is of this runner."
            : "No runs yet. The first one appears here with its records."}
        </p>
      )}
      {listed?.length === 0 && <More list={list}>Older runs</More>}
      {listed !== undefined && listed.length > 0 && (
        <div className="records">
          <div>
            <ul className="lines" aria-label="Runs">
              {bindingId === undefined && (
                <li>
                  <RunLink current={parameters} runId="" isShown={runId === undefined}>
                    <b>All runs</b>
                  </RunLink>
                </li>
              )}
              {runs.map((run) => (
                <li key={run.runId}>
                  <RunLink current={parameters} runId={run.runId} isShown={run.runId === runId}>
                    <RunLine run={run} />
                  </RunLink>
                </li>
              ))}
            </ul>
            {runs.length === 0 && (
              <p className="hint">
                None of the newest {formatCount(listed.length)} runs of the runner is of this binding.
              </p>
            )}
            <More list={list}>Older runs</More>
          </div>
          <div className="form">
            {runId !== undefined && <Verdicts key={`verdicts ${runId}`} runId={runId} />}
            {(runId !== undefined || bindingId === undefined) && (
              <Audit key={`audit ${runId ?? ""}`} runnerId={runnerId} runId={runId} isDenied={isDenied} />
            )}
          </div>
        </div>
      )}
    </section>
  );
}

function RunLink({
  current,
  runId,
  isShown,
  children,
}: {
  readonly current: URLSearchParams;
  /** Empty for all runs. */
  readonly runId: string;
  readonly isShown: boolean;
  readonly children: ReactNode;
}) {
  const [path] = useLocation();
  return (
    <Link
      href={`${path}?${withParameter(current, "run", runId)}`}
      replace
      data-row
      className="inbox-row"
      aria-current={isShown ? "true" : undefined}
    >
      {children}
    </Link>
  );
}

function RunLine({ run }: { readonly run: Run }) {
  const nowMs = useNow();
  const created = msOf(run.createTime) ?? nowMs;
  return (
    <>
      <b className="mono">{shortId(run.runId)}</b>
      <StateLabel state={run.state} />
      <span>{visibleText(run.failureCode || run.bindingId)}</span>
      <span title={formatTime(created)}>{formatAge(nowMs - created)}</span>
    </>
  );
}

/** The words are those of the documentation, so that a search finds them. */
const dispositions = {
  [ResultDisposition.UNSPECIFIED]: ["unknown", "queued"],
  [ResultDisposition.APPLIED]: ["applied", "completed"],
  [ResultDisposition.TELEMETRY]: ["telemetry", "queued"],
  [ResultDisposition.IGNORED_UNKNOWN]: ["ignored_unknown", "waiting"],
  [ResultDisposition.DROPPED_INVALID]: ["dropped_invalid", "failed"],
  [ResultDisposition.DROPPED_DUPLICATE]: ["dropped_duplicate", "cancelled"],
  [ResultDisposition.REFUSED_POLICY]: ["refused_policy", "failed"],
  [ResultDisposition.IGNORED_AFTER_TERMINAL]: ["ignored_after_terminal", "cancelled"],
} as const satisfies Record<ResultDisposition, readonly [string, string]>;

function Verdicts({ runId }: { readonly runId: string }) {
  const list = useInfiniteQuery(
    RunnerService.method.listResultVerdicts,
    { runId, pageSize: 50, pageToken: "" },
    options,
  );
  const verdicts = list.data?.pages.flatMap((page) => page.verdicts);
  return (
    <>
      <h3>
        Results of <Link href={`/runs/${runId}`}>run {shortId(runId)}</Link> that were dropped, refused or unusual
      </h3>
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {verdicts?.length === 0 && <p className="hint">None: every result is in the log as it arrived.</p>}
      {verdicts !== undefined && verdicts.length > 0 && (
        <table className="data-table" aria-label="Results">
          <TableHead names={["Result", "Disposition", "Why"]} />
          <tbody>
            {verdicts.map((verdict, index) => (
              <VerdictRow key={index} verdict={verdict} />
            ))}
          </tbody>
        </table>
      )}
      <More list={list}>Later results</More>
    </>
  );
}

function VerdictRow({ verdict: { sequence, type, disposition, diagnostics } }: { readonly verdict: ResultVerdict }) {
  const [word, look] = dispositions[disposition] ?? dispositions[ResultDisposition.UNSPECIFIED];
  return (
    <tr>
      <th scope="row">
        {formatCount(sequence)} <span className="mono">{visibleText(type)}</span>
      </th>
      <td>
        <span className="state" data-state={look}>
          {word}
        </span>
      </td>
      <td>{visibleText(diagnostics.join("; "))}</td>
    </tr>
  );
}

function Audit({
  runnerId,
  runId,
  isDenied,
}: {
  readonly runnerId: string;
  readonly runId: string | undefined;
  readonly isDenied: boolean;
}) {
  const list = useInfiniteQuery(
    RunnerService.method.listAuditEntries,
    { runId: runId ?? "", pageSize: 50, pageToken: "" },
    options,
  );
  const all = list.data?.pages.flatMap((page) => page.entries);
  const entries = all?.filter((entry) => entry.runnerId === runnerId && (!isDenied || entry.result === "deny"));
  return (
    <>
      <h3>{runId === undefined ? "Requests of all its runs to the host" : "Requests of the run to the host"}</h3>
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {entries !== undefined && entries.length > 0 && <AuditTable entries={entries} hasRun={runId === undefined} />}
      {entries?.length === 0 && (
        <p className="hint">
          {isDenied ? "None was denied" : "There is none"}
          {list.hasNextPage && ` among the newest ${formatCount(all?.length ?? 0)}`}.
        </p>
      )}
      <More list={list}>Older requests</More>
    </>
  );
}

function AuditTable({ entries, hasRun }: { readonly entries: readonly AuditEntry[]; readonly hasRun: boolean }) {
  const nowMs = useNow();
  return (
    <table className="data-table" aria-label="Requests">
      <thead>
        <tr>
          <th scope="col">Request</th>
          <th scope="col">Verdict</th>
          <th scope="col">Why</th>
          {hasRun && <th scope="col">Run</th>}
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ entryId, action, resource, scope, result, reason, runId, createTime }) => {
          const created = msOf(createTime) ?? nowMs;
          return (
            <tr key={entryId} data-differs={result === "deny" ? "refused" : undefined}>
              <th scope="row">
                <span className="mono">{visibleText(action)}</span>{" "}
                {visibleText([resource, scope].filter((text) => text !== "").join(" · "))}
              </th>
              <td>
                <span className="state" data-state={result === "deny" ? "failed" : "completed"}>
                  {result === "deny" ? "denied" : "allowed"}
                </span>
              </td>
              <td>{visibleText(reason)}</td>
              {hasRun && (
                <td>
                  <Link href={`/runs/${runId}`} className="mono">
                    {shortId(runId)}
                  </Link>
                </td>
              )}
              <td title={formatTime(created)}>{formatAge(nowMs - created)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
