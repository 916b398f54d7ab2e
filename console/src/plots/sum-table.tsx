// The sums of a report: a row for each name, which leads to the plots of this name alone.

import { Link, useSearchParams } from "wouter";
import type { TimePercentiles, UsageReport, UsageSeries } from "#gen/runnel/v1/usage_service_pb.js";
import { formatCount, formatDuration, formatSum } from "../lib/format.ts";
import { useRowKeys } from "../lib/rows.ts";
import { TableHead } from "../ui/table-head.tsx";
import type { PlotsFilter } from "./plots-filter.ts";
import { costOf, failedOf, linesMax, nameOf, runsOf, tokensOf } from "./series.ts";

const heads = { agent: "Agent", model: "Model", client: "Client" } as const;

export function SumTable({ report, filter }: { readonly report: UsageReport; readonly filter: PlotsFilter }) {
  const rows = useRowKeys<HTMLTableElement>();
  const { by } = filter;
  return (
    <section className="panel" aria-labelledby="plots-sums">
      <h2 id="plots-sums">Sums of this time</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <div className="scroll" role="group" aria-label="Sums" tabIndex={0}>
        <table ref={rows} className="numbers" aria-labelledby="plots-sums">
          <TableHead
            names={[
              by === undefined ? "Runs of" : heads[by],
              ...["Runs", "Failed", "p50", "p95", "p99", "First text p50", "First text p95", "Tokens", "Cost"],
            ]}
          />
          <tbody>
            {report.series.map((series) => (
              <tr key={series.isRest ? "rest" : `name ${series.name}`}>
                <th scope="row">
                  <Name series={series} filter={filter} />
                </th>
                <td>{formatCount(runsOf(series.total) ?? 0)}</td>
                <td>{formatCount(failedOf(series.total) ?? 0)}</td>
                <Times times={series.total?.duration} percentiles={["p50Ms", "p95Ms", "p99Ms"]} />
                <Times times={series.total?.firstText} percentiles={["p50Ms", "p95Ms"]} />
                <td>{formatCount(tokensOf(series.total) ?? 0)}</td>
                <td>{formatOrUnknown(costOf(series.total))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {report.series.length > linesMax && <p className="hint">The charts draw the first {linesMax} rows.</p>}
    </section>
  );
}

function formatOrUnknown(microUsd: number | undefined): string {
  return microUsd === undefined ? "unknown" : formatSum(microUsd);
}

function Times({
  times,
  percentiles,
}: {
  readonly times: TimePercentiles | undefined;
  readonly percentiles: readonly ("p50Ms" | "p95Ms" | "p99Ms")[];
}) {
  return percentiles.map((percentile) => (
    <td key={percentile}>{times === undefined ? "–" : formatDuration(Number(times[percentile]))}</td>
  ));
}

function Name({ series, filter }: { readonly series: UsageSeries; readonly filter: PlotsFilter }) {
  const [parameters] = useSearchParams();
  const { by } = filter;
  if (by === undefined) {
    return filter.ofAll ? "all clients" : "your key";
  }
  if (series.isRest || series.name === "") {
    return <span className="hint">{nameOf(series)}</span>;
  }
  const address = new URLSearchParams(parameters);
  address.set(by, series.name);
  address.delete("by");
  return (
    <Link href={`/plots?${address}`} data-row className="row-link" title={`Plots of this ${by} alone`}>
      {nameOf(series)}
    </Link>
  );
}
