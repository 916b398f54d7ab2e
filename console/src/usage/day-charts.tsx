// Runs, tokens and cost by day as charts that choose a day together, and the same numbers as a table.

import { useMemo, useState } from "react";
import { formatCount, formatDay, formatExactCost, formatShort } from "../lib/format.ts";
import { Chart } from "../ui/chart.tsx";
import { Icon } from "../ui/icon.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { type Amounts, noAmounts, sumBy, type Usage } from "./usage-data.ts";

export function DayCharts({ days, rows }: { readonly days: readonly string[]; readonly rows: Usage["rows"] }) {
  const [shown, setShown] = useState<number | undefined>(undefined);
  const amounts = useMemo(() => {
    const sums = sumBy(rows, ({ day }) => day);
    return days.map((day) => sums.get(day) ?? noAmounts);
  }, [days, rows]);
  const periods = useMemo(
    () => days.map((day) => ({ name: formatDay(day), tick: formatDay(day).replace(/ \d+$/, "") })),
    [days],
  );
  const last = days.length - 1;
  const chosen = {
    ...{ periods, span: `${days.length} days`, onShow: setShown },
    shown: shown === undefined ? undefined : Math.min(shown, last),
  };
  const counts = { format: formatCount, formatTick: (count: number) => shorten(formatShort(count)) };
  return (
    <section className="panel" aria-labelledby="usage-days">
      <h2 id="usage-days">By day (UTC)</h2>
      <div className="charts">
        <Chart
          title="Runs that ended"
          series={[{ name: "", values: amounts.map(({ runs }) => runs) }]}
          {...counts}
          {...chosen}
        />
        <Chart
          title="Tokens, output on top"
          series={[
            { name: "input", values: amounts.map(({ input }) => input) },
            { name: "output", values: amounts.map(({ output }) => output) },
          ]}
          {...counts}
          {...chosen}
        />
        <Chart
          title="Cost"
          series={[{ name: "", values: amounts.map(({ costMicroUsd }) => costMicroUsd) }]}
          format={formatExactCost}
          formatTick={(microUsd) => shorten(formatExactCost(microUsd))}
          {...chosen}
        />
      </div>
      <details className="fold">
        <summary>
          <Icon name="chevron" />
          The same numbers as a table
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <div className="scroll" role="group" aria-label="Usage by day" tabIndex={0}>
          <DayTable days={days} amounts={amounts} />
        </div>
      </details>
    </section>
  );
}

function DayTable({ days, amounts }: { readonly days: readonly string[]; readonly amounts: readonly Amounts[] }) {
  return (
    <table className="numbers">
      <caption className="unseen">Usage by day, newest first</caption>
      <TableHead names={["Day", "Runs", "Input", "Output", "Cost"]} />
      <tbody>
        {days
          .map((day, index) => ({ day, ...(amounts[index] ?? noAmounts) }))
          .reverse()
          .map(({ day, runs, input, output, costMicroUsd }) => (
            <tr key={day}>
              <th scope="row">{formatDay(day)}</th>
              <td>{formatCount(runs)}</td>
              <td>{formatCount(input)}</td>
              <td>{formatCount(output)}</td>
              <td>{formatExactCost(costMicroUsd)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

/** Example: `20.0k` becomes `20k`. */
function shorten(text: string): string {
  return text.replace(/\.0+(?=\D*$)/, "");
}
