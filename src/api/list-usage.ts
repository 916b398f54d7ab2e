// ListUsage: what the ended runs of a client used, by day.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListUsageRequest, ListUsageResponseSchema } from "#gen/runnel/v1/system_service_pb.js";
import { type DayUsageKey, type DayUsageRow, listDayUsage } from "../engine/storage/run-usage.ts";
import { foldEndedRuns } from "../engine/storage/usage-sum.ts";
import { dayMs } from "../platform/base/clock.ts";
import { invalidField } from "../platform/base/fault.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextPageToken, pageSize } from "./page.ts";

const daysUsual = 30;
/** The sums of days are kept that long. */
const daysMax = 92;

/** Returns a page of usage. Throws Fault INVALID_ARGUMENT for days that are no dates or too far apart. */
export async function listUsage(
  deps: Pick<ServiceDeps, "db" | "clock" | "cursors">,
  client: string,
  request: ListUsageRequest,
): Promise<MessageInitShape<typeof ListUsageResponseSchema>> {
  const days = readDays(request, deps.clock.nowMs());
  const scope = ["usage", client, request.dayFrom, request.dayTo];
  const limit = pageSize(request.pageSize);
  const position = deps.cursors.decode(scope, request.pageToken);
  const after = position === undefined ? undefined : (JSON.parse(position) as DayUsageKey);
  // The sums then have every run that has ended before.
  await foldEndedRuns(deps.db);
  const rows = await listDayUsage(deps.db, { client, ...days, after, limit });
  return {
    days: rows.map(toProto),
    nextPageToken: nextPageToken(rows, limit, ({ day, model, agent_name }) =>
      deps.cursors.encode(scope, JSON.stringify({ day, model, agent_name })),
    ),
  };
}

function readDays(request: ListUsageRequest, nowMs: number): { dayFrom: string; dayTo: string } {
  const toMs = request.dayTo === "" ? nowMs : readDay("day_to", request.dayTo);
  const fromMs = request.dayFrom === "" ? toMs - (daysUsual - 1) * dayMs : readDay("day_from", request.dayFrom);
  const dayFrom = formatDay(fromMs);
  const dayTo = formatDay(toMs);
  if (dayFrom > dayTo) {
    throw invalidField("day_from", `must not be after day_to, which is ${dayTo}`);
  }
  if (Date.parse(dayTo) - Date.parse(dayFrom) >= daysMax * dayMs) {
    throw invalidField("day_from", `must be at most ${daysMax - 1} days before day_to, which is ${dayTo}`);
  }
  return { dayFrom, dayTo };
}

function readDay(field: string, day: string): number {
  const ms = Date.parse(day);
  // The parser turns the 30th of February into a day of March.
  if (Number.isNaN(ms) || formatDay(ms) !== day || day < firstDay) {
    throw invalidField(field, "must be a date such as 2026-11-21");
  }
  return ms;
}

/** Before it there are no runs. A bound of 30 days before it stays a date of four digits. */
const firstDay = "1970-01-01";

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toProto(row: DayUsageRow) {
  return {
    day: row.day,
    model: row.model,
    agentName: row.agent_name,
    runs: BigInt(row.runs),
    promptTokens: BigInt(row.prompt_tokens),
    completionTokens: BigInt(row.completion_tokens),
    costMicroUsd: BigInt(row.cost_micro_usd),
  };
}
