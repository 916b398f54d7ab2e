// What ended runs used: rows of the service for a span of days, and their sums by day, model and agent.

import { createClient } from "@connectrpc/connect";
import { skipToken, useQuery } from "@tanstack/react-query";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { transport } from "../api/transport.ts";

const system = createClient(SystemService, transport);
const pageSize = 250;
/** A client with more combinations of day, model and agent has to choose fewer days. */
const pagesMax = 20;
const dayMs = 86_400_000;

/** No stream tells of usage or of circuit breakers. */
export const refreshMs = 5_000;

/** Spans that the view offers, in days with today. */
export const daySpans = [7, 30, 90] as const;
const daysUsual = 30;

/** Sums over runs. Tokens are those of input and output. */
export interface Amounts {
  readonly runs: number;
  readonly input: number;
  readonly output: number;
  readonly costMicroUsd: number;
}

interface UsageRow extends Amounts {
  /** UTC, such as `2026-11-21`. */
  readonly day: string;
  readonly model: string;
  readonly agent: string;
}

/** The rows of a span. */
export interface Usage {
  readonly rows: readonly UsageRow[];
  /** The day on which the loading stopped because there were too many rows; undefined when all rows are here. */
  readonly cutDay: string | undefined;
}

/** The numbers by which the tables are sorted. */
export const orders = {
  runs: ({ runs }) => runs,
  tokens: ({ input, output }) => input + output,
  cost: ({ costMicroUsd }) => costMicroUsd,
} as const satisfies Readonly<Record<string, (amounts: Amounts) => number>>;

export type Order = keyof typeof orders;

export const noAmounts: Amounts = { runs: 0, input: 0, output: 0, costMicroUsd: 0 };

export function readSpan(parameters: URLSearchParams): number {
  return daySpans.find((days) => String(days) === parameters.get("days")) ?? daysUsual;
}

export function readOrder(parameters: URLSearchParams): Order {
  const asked = parameters.get("sort");
  return asked === "runs" || asked === "tokens" ? asked : "cost";
}

/** Returns so many days, of which `today` is the last. */
export function listDays(today: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => dayBefore(today, count - 1 - index));
}

/** Loads the rows of a span, and renews those of today: no run ends in the past. */
export function useUsage(today: string | undefined, count: number) {
  const past = useQuery({
    queryKey: ["usage", today, count],
    queryFn:
      today === undefined
        ? skipToken
        : ({ signal }) => loadUsage(dayBefore(today, count - 1), dayBefore(today, 1), signal),
  });
  const current = useQuery({
    queryKey: ["usage", today],
    queryFn: today === undefined ? skipToken : ({ signal }) => loadUsage(today, today, signal),
    refetchInterval: refreshMs,
  });
  const isLoaded = past.data !== undefined && current.data !== undefined;
  return {
    data: isLoaded ? join(current.data, past.data) : undefined,
    error: past.error ?? current.error,
    refetch: () => Promise.all([past.refetch(), current.refetch()]),
  };
}

/** Returns the sums by a key of the rows. */
export function sumBy(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): ReadonlyMap<string, Amounts> {
  const sums = new Map<string, Amounts>();
  for (const row of rows) {
    const key = keyOf(row);
    sums.set(key, add(sums.get(key) ?? noAmounts, row));
  }
  return sums;
}

function add(one: Amounts, other: Amounts): Amounts {
  return {
    runs: one.runs + other.runs,
    input: one.input + other.input,
    output: one.output + other.output,
    costMicroUsd: one.costMicroUsd + other.costMicroUsd,
  };
}

function join(one: Usage, other: Usage): Usage {
  return { rows: [...one.rows, ...other.rows], cutDay: one.cutDay ?? other.cutDay };
}

async function loadUsage(dayFrom: string, dayTo: string, signal: AbortSignal): Promise<Usage> {
  const rows: UsageRow[] = [];
  let pageToken = "";
  for (let page = 0; page < pagesMax; page += 1) {
    const { days, nextPageToken } = await system.listUsage({ dayFrom, dayTo, pageSize, pageToken }, { signal });
    for (const { day, model, agentName, runs, promptTokens, completionTokens, costMicroUsd } of days) {
      const tokens = { input: Number(promptTokens), output: Number(completionTokens) };
      rows.push({ day, model, agent: agentName, runs: Number(runs), ...tokens, costMicroUsd: Number(costMicroUsd) });
    }
    pageToken = nextPageToken;
    if (pageToken === "") {
      break;
    }
  }
  return { rows, cutDay: pageToken === "" ? undefined : rows.at(-1)?.day };
}

function dayBefore(day: string, count: number): string {
  return new Date(Date.parse(day) - count * dayMs).toISOString().slice(0, 10);
}
