// Usage: today against the budget, the days of a span, sums by model and agent, the limits, and the providers.

import { useQuery } from "@connectrpc/connect-query";
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { serviceUrl } from "../api/transport.ts";
import { formatDay } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { DayCharts } from "./day-charts.tsx";
import { LimitsPane } from "./limits-pane.tsx";
import { ProvidersPane } from "./providers-pane.tsx";
import { TodayPane } from "./today-pane.tsx";
import { TotalTables } from "./total-tables.tsx";
import { daySpans, listDays, noAmounts, readSpan, refreshMs, sumBy, type Usage, useUsage } from "./usage-data.ts";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function UsageView() {
  const [parameters, setParameters] = useSearchParams();
  const count = readSpan(parameters);
  const budget = useQuery(SystemService.method.getUsage, {}, { refetchInterval: refreshMs });
  const today = budget.data?.day;
  const usage = useUsage(today, count);
  const error = budget.error ?? usage.error;
  const retry = (): void => void Promise.all([budget.refetch(), today !== undefined && usage.refetch()]);
  const chooseSpan = (days: number): void =>
    setParameters((current) => withParameter(current, "days", String(days)), { replace: true });
  return (
    <div className="view sheet">
      <header className="view-head">
        <h1>Usage</h1>
        <fieldset className="chips">
          <legend className="unseen">Span</legend>
          {daySpans.map((days) => (
            <label key={days} className="chip">
              <input type="radio" name="days" checked={days === count} onChange={() => chooseSpan(days)} />
              {days} days
            </label>
          ))}
        </fieldset>
      </header>
      {error !== null && <Failure error={error} onRetry={retry} />}
      {usage.data === undefined && error === null && <Loading what="usage" />}
      {budget.data !== undefined && usage.data !== undefined && (
        <>
          <TodayPane
            budget={budget.data}
            ended={sumBy(usage.data.rows, ({ day }) => day).get(budget.data.day) ?? noAmounts}
          />
          <Span usage={usage.data} today={budget.data.day} count={count} />
        </>
      )}
      <LimitsPane />
      <ProvidersPane />
    </div>
  );
}

function Span({ usage, today, count }: { readonly usage: Usage; readonly today: string; readonly count: number }) {
  const { rows, cutDay } = usage;
  const days = useMemo(() => listDays(today, count), [today, count]);
  if (rows.length === 0) {
    return (
      <EmptyState title={`No run has ended in these ${count} days`} lines={firstUsage}>
        <p>
          Each run counts here on the day of its end, with its tokens and its cost.{" "}
          <Link href="/new">Start one in the console</Link>, or:
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      {cutDay !== undefined && (
        <p className="problem" role="alert">
          There are too many models and agents for {count} days. The numbers of {formatDay(cutDay)} and of the days
          before are incomplete: choose fewer days.
        </p>
      )}
      <DayCharts days={days} rows={rows} />
      <TotalTables rows={rows} count={count} />
    </>
  );
}

const firstUsage = `url=${serviceUrl}
id=$(curl -sS $url/v1/sessions -d '{"agent":{"name":"first"}}' | sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS $url/v1/sessions/$id/messages -d '{"message":"Say hello."}'
curl -sS $url/v1/usage/days`;
