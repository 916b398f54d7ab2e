// Charts that choose a period together, and the same numbers as a table.

import { type ComponentProps, type ReactNode, useState } from "react";
import { formatCount, formatExactCost, formatShort, formatSum } from "../lib/format.ts";
import { Chart, type Period } from "./chart.tsx";
import { Icon } from "./icon.tsx";
import { TableHead } from "./table-head.tsx";

type ChartProps = ComponentProps<typeof Chart>;

/** What one chart has of its own. */
export type Plot = Pick<ChartProps, "title" | "series" | "isLines" | "format" | "formatTick">;

/** How charts write amounts. */
export const counts = { format: formatCount, formatTick: (count: number) => shorten(formatShort(count)) };
export const costs = { format: formatSum, formatTick: (microUsd: number) => shorten(formatExactCost(microUsd)) };

export function Charts({
  title,
  plots,
  onOpen,
  children,
  ...shared
}: Pick<ChartProps, "periods" | "span" | "onZoom"> & {
  readonly title: string;
  readonly plots: readonly Plot[];
  readonly onOpen?: ((index: number, title: string) => void) | undefined;
  readonly children?: ReactNode;
}) {
  const [shown, setShown] = useState<number | undefined>(undefined);
  const { periods } = shared;
  const chosen = { onShow: setShown, shown: shown === undefined ? undefined : Math.min(shown, periods.length - 1) };
  return (
    <section className="panel" aria-labelledby="charts">
      <h2 id="charts">{title}</h2>
      <div className="charts">
        {plots.map((plot) => (
          <Chart
            key={plot.title}
            {...{ ...plot, ...shared, ...chosen }}
            onOpen={onOpen && ((index) => onOpen(index, plot.title))}
          />
        ))}
      </div>
      {children}
      <details className="fold">
        <summary>
          <Icon name="chevron" />
          The same numbers as a table
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
        <div className="scroll" role="group" aria-label="Numbers over time" tabIndex={0}>
          <PlotTable periods={periods} plots={plots} />
        </div>
      </details>
    </section>
  );
}

/** The periods with runs, newest first. */
function PlotTable({ periods, plots }: { readonly periods: readonly Period[]; readonly plots: readonly Plot[] }) {
  const columns = plots.flatMap(({ title, series, format }) =>
    series.map(({ name, values }) => ({ head: name === "" ? title : `${title}: ${name}`, values, format })),
  );
  const rows = periods
    .map(({ name }, index) => ({ name, cells: columns.map(({ values }) => values[index]) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined && cell > 0))
    .reverse();
  return (
    <table className="numbers">
      <caption className="unseen">Numbers over time, newest first</caption>
      <TableHead names={["Time", ...columns.map(({ head }) => head)]} />
      <tbody>
        {rows.map(({ name, cells }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              <td key={columns[index]?.head}>{cell === undefined ? "–" : columns[index]?.format(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Example: `20.0k` becomes `20k`, and `1.00 s` becomes `1 s`. */
export function shorten(text: string): string {
  return text.replace(/\.0+(?=\D*$)/, "");
}
