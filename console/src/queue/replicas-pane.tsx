// The replicas with their leases and slots, and how many runs of all clients wait.

import { useQuery } from "@connectrpc/connect-query";
import { type Replica, SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { AdminFailure, adminQuery } from "../frame/admin-gate.tsx";
import { formatCount, formatDuration, formatTime, msOf, shortId } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";

/** No stream tells of replicas. */
const refreshMs = 5_000;

export function ReplicasPane() {
  const { data, error, refetch } = useQuery(
    SystemService.method.listReplicas,
    {},
    { ...adminQuery, refetchInterval: ({ state }) => (state.error === null ? refreshMs : false) },
  );
  if (error !== null) {
    return <AdminFailure error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return <Loading what="replicas" />;
  }
  const { replicas, queued, waiting, pending } = data;
  // The clock of the database decides about leases.
  const nowMs = msOf(data.time) ?? 0;
  const oldestMs = msOf(data.oldestQueuedTime);
  return (
    <>
      <p>
        Of all clients, {formatCount(queued)} queued, {formatCount(waiting)} waiting, {formatCount(pending)} behind
        another run of their session.
        {oldestMs !== undefined && ` The oldest has waited for a slot for ${formatDuration(nowMs - oldestMs)}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="scroll" role="group" aria-label="Replicas" tabIndex={0}>
        <table className="numbers" aria-labelledby="queue-replicas">
          <TableHead names={["Replica", "Version", "Started", "Runs", "Slots", "Lease"]} />
          <tbody>
            {replicas.map((replica) => (
              <tr key={replica.replicaId}>
                <th scope="row" className="mono" title={replica.replicaId}>
                  {shortId(replica.replicaId)}
                </th>
                <td>{visibleText(replica.version) || "unknown"}</td>
                <td>{formatTime(msOf(replica.startTime) ?? 0)}</td>
                <td>{formatCount(replica.runs)}</td>
                <td>{replica.slots === 0 ? "unknown" : formatCount(replica.slots)}</td>
                <td>{leaseOf(replica, nowMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function leaseOf({ leaseTime }: Replica, nowMs: number): string {
  const leftMs = (msOf(leaseTime) ?? 0) - nowMs;
  return leftMs > 0 ? `${formatDuration(leftMs)} left` : `expired ${formatDuration(-leftMs)} ago`;
}
