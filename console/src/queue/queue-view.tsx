// What waits and why: the runs of this client, oldest first; its schedules; and the replicas, for the operator.

import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { Link } from "wouter";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { AdminGate } from "../frame/admin-gate.tsx";
import { firstPage, useAllPages } from "../lib/all-pages.ts";
import { useChanges } from "../lib/changes.ts";
import { useNow } from "../lib/clock.ts";
import { formatCountdown, formatDuration, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { useRowKeys } from "../lib/rows.ts";
import { dueLater } from "../lib/run-state.ts";
import { visibleText } from "../lib/visible-text.ts";
import { runChanges } from "../runs/run-changes.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { StateLabel } from "../ui/state-label.tsx";
import { StreamBadge } from "../ui/stream-badge.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { ReplicasPane } from "./replicas-pane.tsx";
import { SchedulesPane } from "./schedules-pane.tsx";

const waitingStates = [Run_State.QUEUED, Run_State.WAITING];

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function QueueView() {
  const changes = useChanges(runChanges);
  const list = useInfiniteQuery(RunService.method.listRuns, { states: waitingStates, ...firstPage }, inPages);
  useAllPages(list);
  const runs = useMemo(
    () => oldestFirst(list.data?.pages.flatMap((page) => page.runs) ?? [], changes.items),
    [list.data, changes.items],
  );
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Queue</h1>
        <StreamBadge phase={changes.phase} />
      </header>
      <section className="panel" aria-labelledby="queue-runs">
        <h2 id="queue-runs">Your runs that wait</h2>
        {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && list.error === null && <Loading what="runs" />}
        {list.data !== undefined &&
          (runs.length === 0 ? <p className="hint">No run waits.</p> : <Waiting runs={runs} />)}
      </section>
      <SchedulesPane />
      <section className="panel" aria-labelledby="queue-replicas">
        <h2 id="queue-replicas">Replicas</h2>
        <AdminGate what="The replicas">
          <ReplicasPane />
        </AdminGate>
      </section>
    </div>
  );
}

/** Merges what the list has with what has changed since. Ids sort by the time of creation. */
function oldestFirst(listed: readonly Run[], changed: ReadonlyMap<string, Run>): readonly Run[] {
  const runs = new Map([...listed.map((run) => [run.runId, run] as const), ...changed]);
  return [...runs.values()]
    .filter(({ state }) => waitingStates.includes(state))
    .sort((one, other) => (one.runId < other.runId ? -1 : 1));
}

function Waiting({ runs }: { readonly runs: readonly Run[] }) {
  const nowMs = useNow();
  const rows = useRowKeys<HTMLTableElement>();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div className="scroll" role="group" aria-label="Runs that wait" tabIndex={0}>
      <table ref={rows} className="numbers words" aria-labelledby="queue-runs">
        <TableHead names={["Run", "State", "Agent", "Waits for", "Since its creation"]} />
        <tbody>
          {runs.map((run) => (
            <tr key={run.runId}>
              <th scope="row">
                <Link href={`/runs/${run.runId}`} data-row className="mono row-link" title={run.runId}>
                  {shortId(run.runId)}
                </Link>
              </th>
              <td>
                <StateLabel state={run.state} />
              </td>
              <td>{visibleText(run.agentName || run.runnerId || run.driver)}</td>
              <td>{reasonOf(run, nowMs)}</td>
              <td>{formatDuration(nowMs - (msOf(run.createTime) ?? nowMs))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function reasonOf(run: Run, nowMs: number): string {
  const dueMs = dueLater(run, nowMs);
  if (dueMs !== undefined) {
    return `its time, in ${formatCountdown(dueMs - nowMs)}`;
  }
  if (run.waitReason === "session") {
    return "the run before it in its session";
  }
  return run.state === Run_State.QUEUED ? "a free slot" : visibleText(run.waitReason);
}
