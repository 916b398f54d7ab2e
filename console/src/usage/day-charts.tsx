// Runs, tokens and cost by day.

import { useMemo } from "react";
import { formatDay, knownCost } from "../lib/format.ts";
import { Charts, costs, counts } from "../ui/charts.tsx";
import { type Amounts, noAmounts, sumBy, type Usage } from "./usage-data.ts";

export function DayCharts({ days, rows }: { readonly days: readonly string[]; readonly rows: Usage["rows"] }) {
  const plots = useMemo(() => {
    const sums = sumBy(rows, ({ day }) => day);
    const own = (of: (amounts: Amounts) => number | undefined, name = "") => ({
      name,
      values: days.map((day) => of(sums.get(day) ?? noAmounts)),
    });
    return [
      { title: "Runs that ended", series: [own(({ runs }) => runs)], ...counts },
      {
        title: "Tokens, output on top",
        series: [own(({ input }) => input, "input"), own(({ output }) => output, "output")],
        ...counts,
      },
      {
        title: "Cost",
        series: [own(({ costMicroUsd, input, output }) => knownCost(costMicroUsd, input + output))],
        ...costs,
      },
    ];
  }, [days, rows]);
  const periods = useMemo(
    () => days.map((day) => ({ name: formatDay(day), tick: formatDay(day).replace(/ \d+$/, "") })),
    [days],
  );
  return <Charts title="By day (UTC)" plots={plots} periods={periods} span={`${days.length} days`} />;
}
