// Sums by model and by agent, sorted as the address says, with the way to the runs.

import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { formatCost, formatCount, formatExactCost, knownCost } from "../lib/format.ts";
import { withParameter } from "../lib/parameters.ts";
import { useRowKeys } from "../lib/rows.ts";
import { visibleText } from "../lib/visible-text.ts";
import { spans, type TextField } from "../runs/runs-filter.ts";
import { type Amounts, type Order, orders, readOrder, sumBy, type Usage } from "./usage-data.ts";

/** More rows are shown on request. */
const shownMax = 10;

type Field = Extract<TextField, "model" | "agent">;

export function TotalTables({ rows, count }: { readonly rows: Usage["rows"]; readonly count: number }) {
  const tables = useRowKeys<HTMLDivElement>();
  return (
    <div ref={tables} className="side-by-side">
      <TotalTable field="model" title="By model" rows={rows} count={count} />
      <TotalTable field="agent" title="By agent" rows={rows} count={count} />
    </div>
  );
}

function TotalTable({
  field,
  title,
  rows,
  count,
}: {
  readonly field: Field;
  readonly title: string;
  readonly rows: Usage["rows"];
  readonly count: number;
}) {
  const [parameters, setParameters] = useSearchParams();
  const [showsAll, setShowsAll] = useState(false);
  const order = readOrder(parameters);
  const sorted = sort(
    sumBy(rows, (row) => row[field]),
    order,
  );
  const choose = (next: Order): void =>
    setParameters((current) => withParameter(current, "sort", next), { replace: true });
  return (
    <section className="panel">
      <h2 id={`usage-${field}`}>{title}</h2>
      <table className="numbers" aria-labelledby={`usage-${field}`}>
        <thead>
          <tr>
            <th scope="col">{field === "model" ? "Model" : "Agent"}</th>
            {(Object.keys(orders) as Order[]).map((each) => (
              <th key={each} scope="col" aria-sort={each === order ? "descending" : undefined}>
                <button type="button" onClick={() => choose(each)}>
                  {each}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, showsAll ? undefined : shownMax).map(([name, amounts]) => (
            <tr key={name}>
              <th scope="row">
                <Name field={field} name={name} count={count} />
              </th>
              <td>{formatCount(amounts.runs)}</td>
              <td title={`${formatCount(amounts.input)} input, ${formatCount(amounts.output)} output`}>
                {formatCount(orders.tokens(amounts))}
              </td>
              <td title={formatKnownCost(amounts, formatExactCost)}>{formatKnownCost(amounts, formatCost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!showsAll && sorted.length > shownMax && (
        <button type="button" className="button" onClick={() => setShowsAll(true)}>
          Show all {formatCount(sorted.length)} {field}s
        </button>
      )}
    </section>
  );
}

function formatKnownCost({ input, output, costMicroUsd }: Amounts, format: (microUsd: number) => string): string {
  const known = knownCost(costMicroUsd, input + output);
  return known === undefined ? "unknown" : format(known);
}

function Name({ field, name, count }: { readonly field: Field; readonly name: string; readonly count: number }) {
  if (name === "") {
    return <span className="hint">without a {field === "model" ? "model" : "name"}</span>;
  }
  const since = `${count}d`;
  const filter = new URLSearchParams({ [field]: name, ...(since in spans && { since }) });
  return (
    <Link href={`/runs?${filter}`} data-row className="row-link" title={`Runs with this ${field}`}>
      {visibleText(name)}
    </Link>
  );
}

/** Largest first; equal ones by name. */
function sort(sums: ReadonlyMap<string, Amounts>, order: Order): readonly (readonly [string, Amounts])[] {
  const sizeOf = orders[order];
  return [...sums].sort(
    ([name, amounts], [otherName, other]) => sizeOf(other) - sizeOf(amounts) || (name < otherName ? -1 : 1),
  );
}
