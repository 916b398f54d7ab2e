// Today: what the caller's runs have used, against the daily budget.

import type { GetUsageResponse } from "#gen/runnel/v1/system_service_pb.js";
import { useNow } from "../lib/clock.ts";
import { formatCost, formatCount, formatCountdown, formatDay, knownCost } from "../lib/format.ts";
import type { Amounts } from "./usage-data.ts";

const dayMs = 86_400_000;
/** From here on, a budget is worth a look. */
const nearPercent = 80;

export function TodayPane({ budget, ended }: { readonly budget: GetUsageResponse; readonly ended: Amounts }) {
  const nowMs = useNow();
  const leftMs = Date.parse(budget.day) + dayMs - nowMs;
  const hasBudget = budget.tokensMax > 0n || budget.costMicroUsdMax > 0n;
  return (
    <section className="panel" aria-labelledby="usage-today">
      <div className="panel-head">
        <h2 id="usage-today">Today</h2>
        <span className="hint">
          {formatDay(budget.day)}, UTC{leftMs > 0 && ` · ends in ${formatCountdown(leftMs)}`}
        </span>
      </div>
      {hasBudget ? (
        <>
          <div className="field-row">
            <Budget name="Tokens" used={budget.tokens} max={budget.tokensMax} format={formatCount} />
            <Budget
              name="Cost"
              used={budget.costMicroUsd}
              max={budget.costMicroUsdMax}
              format={(microUsd) => formatCost(Number(microUsd))}
            />
          </div>
          <p className="hint">
            {describe(ended)} The budget also counts what active runs have reserved. A run that reaches it fails.
          </p>
        </>
      ) : (
        <p>
          No daily budget is set: <code>budgets.client_day_tokens</code> and <code>budgets.client_day_usd</code> set
          one. {describe(ended)}
        </p>
      )}
    </section>
  );
}

function describe({ runs, input, output, costMicroUsd }: Amounts): string {
  if (runs === 0) {
    return "No run has ended today.";
  }
  const known = knownCost(costMicroUsd, input + output);
  const what = `${formatCount(input + output)} tokens and ${known === undefined ? "an unknown cost" : formatCost(known)}`;
  return `${runs === 1 ? "1 run has" : `${formatCount(runs)} runs have`} ended today, with ${what}.`;
}

function Budget({
  name,
  used,
  max,
  format,
}: {
  readonly name: string;
  readonly used: bigint;
  readonly max: bigint;
  readonly format: (amount: bigint) => string;
}) {
  if (max === 0n) {
    return (
      <div className="budget">
        <b>{name}</b>
        <span>{format(used)}, no budget</span>
      </div>
    );
  }
  const percent = Math.floor((Number(used) / Number(max)) * 100);
  const state = percent >= 100 ? "full" : percent >= nearPercent ? "near" : undefined;
  const text = `${format(used)} of ${format(max)}, ${percent} %${state === undefined ? "" : words[state]}`;
  return (
    <div className="budget" data-state={state}>
      <b>{name}</b>
      <span>{text}</span>
      <div
        className="bar"
        role="meter"
        aria-label={`${name}, of the daily budget`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, percent)}
        aria-valuetext={text}
      >
        <div style={{ width: `${Math.min(100, percent)}%` }} />
      </div>
    </div>
  );
}

const words = { near: ": nearly used up", full: ": used up" } as const;
