// Runs over time: how many ended and failed, how long they took, their tokens and their cost; by agent, model and client.

import { useQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { useSearchParams } from "wouter";
import { UsageService } from "#gen/runnel/v1/usage_service_pb.js";
import { adminToken } from "../api/access.ts";
import { AdminFailure, AdminGate, adminQuery } from "../frame/admin-gate.tsx";
import { formatTime } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import { useStore } from "../lib/store.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { Charts } from "./charts.tsx";
import { type Group, groups, type PlotsFilter, readFilter, spans, toRequest } from "./plots-filter.ts";
import { SumTable } from "./sum-table.tsx";

/** No stream tells of sums. */
const refreshMs = 5_000;

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function PlotsView() {
  const [parameters] = useSearchParams();
  const filter = readFilter(parameters);
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Plots</h1>
      </header>
      <Controls filter={filter} />
      {filter.ofAll ? (
        <AdminGate what="The runs of all clients">
          <Plots filter={filter} />
        </AdminGate>
      ) : (
        <Plots filter={filter} />
      )}
    </div>
  );
}

function Plots({ filter }: { readonly filter: PlotsFilter }) {
  const token = useStore(adminToken);
  const query = JSON.stringify(filter);
  // A span that ends now begins where it began when it was chosen; its end moves on.
  const request = useMemo(() => toRequest(JSON.parse(query) as PlotsFilter, Date.now()), [query]);
  const refetchInterval = filter.last === undefined ? (false as const) : refreshMs;
  const own = useQuery(UsageService.method.queryUsage, withoutClient(request), {
    refetchInterval,
    enabled: !filter.ofAll,
  });
  const all = useQuery(UsageService.method.queryUsageOfClients, request, {
    ...adminQuery,
    refetchInterval: ({ state }) => state.error === null && refetchInterval,
    enabled: filter.ofAll && token !== undefined,
  });
  const { data, error, refetch } = filter.ofAll ? all : own;
  if (error !== null) {
    const retry = (): void => void refetch();
    return filter.ofAll ? <AdminFailure error={error} onRetry={retry} /> : <Failure error={error} onRetry={retry} />;
  }
  const report = data?.report;
  if (report === undefined) {
    return <Loading what="plots" />;
  }
  if (report.series.length === 0) {
    return (
      <EmptyState title="No run has ended in this time">
        <p>Each run counts here from its end on. Choose a longer time above.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Charts report={report} filter={filter} />
      <SumTable report={report} filter={filter} />
    </>
  );
}

function withoutClient({ client: _, ...request }: ReturnType<typeof toRequest>) {
  return request;
}

const byNames = { "": "All runs together", agent: "By agent", model: "By model", client: "By client" } as const;

function Controls({ filter }: { readonly filter: PlotsFilter }) {
  const [, setParameters] = useSearchParams();
  const change = (...changes: readonly (readonly [name: string, value: string])[]): void =>
    setParameters((current) => changes.reduce((next, [name, value]) => withParameter(next, name, value), current));
  const offered = ["", ...Object.keys(groups)].filter((by) => by !== "client" || filter.ofAll) as ("" | Group)[];
  return (
    <search className="filter" aria-label="What the plots show">
      <fieldset className="chips">
        <legend className="unseen">Time</legend>
        {Object.keys(spans).map((span) => (
          <label key={span} className="chip">
            <input
              type="radio"
              name="last"
              checked={filter.last === span}
              onChange={() => change(["last", span], ["from", ""], ["to", ""])}
            />
            last {span}
          </label>
        ))}
      </fieldset>
      {filter.from !== undefined && filter.to !== undefined && (
        <button type="button" className="chip set" onClick={() => change(["from", ""], ["to", ""])}>
          {formatTime(filter.from)} – {formatTime(filter.to)}
          <Icon name="close" />
          <span className="unseen">leave this span</span>
        </button>
      )}
      <select
        className="input"
        aria-label="Series"
        value={filter.by ?? ""}
        onChange={(event) => change(["by", event.currentTarget.value])}
      >
        {offered.map((by) => (
          <option key={by} value={by}>
            {byNames[by]}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Whose runs"
        value={filter.ofAll ? "all" : ""}
        onChange={(event) => change(["of", event.currentTarget.value], ["client", ""])}
      >
        <option value="">Your runs</option>
        <option value="all">All clients (operator)</option>
      </select>
      {(["agent", "model", "client"] as const)
        .filter((field) => filter[field] !== "")
        .map((field) => (
          <button key={field} type="button" className="chip set" onClick={() => change([field, ""])}>
            {field}: <b>{visibleText(filter[field])}</b>
            <Icon name="close" />
            <span className="unseen">remove this filter</span>
          </button>
        ))}
    </search>
  );
}
