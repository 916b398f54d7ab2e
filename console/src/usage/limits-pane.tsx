// The limits in force, each in words with its unit.

import { useQuery } from "@connectrpc/connect-query";
import { type GetLimitsResponse, SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { formatBytes, formatCost, formatCount } from "../lib/format.ts";
import { Failure, Loading } from "../ui/notice.tsx";

export function LimitsPane() {
  const { data, error, refetch } = useQuery(SystemService.method.getLimits, {});
  return (
    <section className="panel" aria-labelledby="usage-limits">
      <h2 id="usage-limits">Limits in force</h2>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="limits" />}
      {data !== undefined && (
        <dl className="limits">
          {describe(data).map(([what, limit]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{limit}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function describe(limits: GetLimitsResponse): readonly (readonly [what: string, limit: string])[] {
  const { runTokensMax, runCostMicroUsdMax, clientConcurrentRunsMax } = limits;
  return [
    ["Active runs of all clients", countOr(limits.concurrentRunsMax, "run", "no limit")],
    ["Your active runs", countOr(clientConcurrentRunsMax, "run", "only the limit of all clients")],
    ["Duration of a run", countOf(limits.runSecondsMax, "second")],
    ["Model responses in a run", countOf(limits.turnsMax, "response")],
    ["Tokens of a run", countOr(runTokensMax, "token", "no limit")],
    ["Cost of a run", runCostMicroUsdMax === 0n ? "no limit" : formatCost(Number(runCostMicroUsdMax))],
    ["Parallel tool calls in a run", countOf(limits.parallelToolCallsMax, "call")],
    ["Duration of a tool call", countOf(limits.toolCallSecondsMax, "second")],
    ["Output of a tool, cut beyond it", bytesOf(limits.toolOutputBytesMax)],
    ["Earlier messages that a model receives", countOf(limits.historyMessagesMax, "message")],
    ["Size of a gRPC or Connect message", bytesOf(limits.messageBytesMax)],
    ["Size of a REST body", bytesOf(limits.restBodyBytesMax)],
  ];
}

function countOr(count: number | bigint, unit: string, unlimited: string): string {
  return Number(count) === 0 ? unlimited : countOf(count, unit);
}

function countOf(count: number | bigint, unit: string): string {
  return `${formatCount(count)} ${unit}${Number(count) === 1 ? "" : "s"}`;
}

function bytesOf(bytes: number | bigint): string {
  return `${formatCount(bytes)} bytes (${formatBytes(Number(bytes))})`;
}
