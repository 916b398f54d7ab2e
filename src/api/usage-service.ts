// UsageService: what ended runs used, over time.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type QueryUsageRequest,
  type TimePercentilesSchema,
  UsageGroup,
  type UsagePointSchema,
  type UsageReportSchema,
  type UsageSeriesSchema,
  type UsageService,
} from "#gen/runnel/v1/usage_service_pb.js";
import {
  exceedsUsageMax,
  foldEndedRuns,
  readUsage,
  timeOfBucket,
  type UsageFilter,
  type UsageQuery,
  type UsageSum,
  usagePeriods,
} from "../engine/storage/usage-sum.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { dayMs } from "../platform/base/clock.ts";
import { invalidField } from "../platform/base/fault.ts";
import { type Db, isStorableText } from "../platform/database/database.ts";
import type { ServiceDeps } from "./deps.ts";

const daysMax = 92;
/** As many as a chart can show apart. */
const pointsMax = 300;
const seriesMax = 10;

type Asked = Pick<QueryUsageRequest, "timeFrom" | "timeTo" | "groupBy" | "agentName" | "model">;

/** Returns the handlers of UsageService. */
export function createUsageService(deps: ServiceDeps): ServiceImpl<typeof UsageService> {
  return {
    queryUsage: async (request, context) => ({
      report: await report(deps, requireClient(context.values).client, request),
    }),
    queryUsageOfClients: async (request) => ({ report: await report(deps, request.client || undefined, request) }),
  };
}

async function report(
  { db, clock }: ServiceDeps,
  client: string | undefined,
  request: Asked,
): Promise<MessageInitShape<typeof UsageReportSchema>> {
  const { agentName, model } = request;
  const spans = readSpans(request, clock.nowMs());
  const isSatisfiable = [client ?? "", agentName, model].every(isStorableText);
  const named = { client, agentName: agentName || undefined, model: model || undefined };
  // The sums then have every run that has ended before.
  await foldEndedRuns(db);
  const groupBy = groupColumns[request.groupBy];
  const [span, withTimes] = isSatisfiable ? await chooseSpan(db, spans, named) : [spans[0], false];
  const sums = isSatisfiable ? await readUsage(db, { ...named, ...span, seriesMax, groupBy, withTimes }) : [];
  return {
    timeFrom: timestampFromDate(span.from),
    timeTo: timestampFromDate(span.to),
    stepSeconds: span.seconds,
    series: seriesOf(sums),
  };
}

const groupColumns = {
  [UsageGroup.UNSPECIFIED]: undefined,
  [UsageGroup.AGENT]: "agent_name",
  [UsageGroup.MODEL]: "model",
  [UsageGroup.CLIENT]: "client",
} as const satisfies Record<UsageGroup, UsageQuery["groupBy"]>;

type Span = Pick<UsageFilter, "seconds" | "from" | "to">;
/** Shortest periods first; the last one is a day. */
type Spans = readonly [Span, ...Span[]];

/**
 * Returns the span in whole periods of each length that it may have, shortest first; a day is always the last. Throws Fault
 * INVALID_ARGUMENT for a span that is empty or too long.
 */
function readSpans({ timeFrom, timeTo }: Asked, nowMs: number): Spans {
  const toMs = msOf(timeTo) ?? nowMs;
  const fromMs = msOf(timeFrom) ?? toMs - dayMs;
  if (fromMs >= toMs) {
    throw invalidField("time_from", `must be before time_to, which is ${new Date(toMs).toISOString()}`);
  }
  if (toMs - fromMs > daysMax * dayMs) {
    throw invalidField("time_from", `must be at most ${daysMax} days before time_to`);
  }
  // A period has to be kept for the whole span, and may not cut it into too many points.
  const fitting = usagePeriods.filter(
    ({ seconds, keptSeconds }, index) =>
      index === usagePeriods.length - 1 ||
      (fromMs >= nowMs - (keptSeconds + seconds) * 1_000 && toMs - fromMs <= pointsMax * seconds * 1_000),
  );
  return fitting.map(({ seconds }) => {
    const round = (ms: number, to: (value: number) => number) => new Date(to(ms / (seconds * 1_000)) * seconds * 1_000);
    return { seconds, from: round(fromMs, Math.floor), to: round(toMs, Math.ceil) };
  }) as [Span, ...Span[]];
}

/**
 * Returns the span in the shortest periods whose sums can be added up in time; of days that are too many, only without their times.
 */
async function chooseSpan(db: Db, spans: Spans, named: Omit<UsageFilter, keyof Span>): Promise<[Span, boolean]> {
  for (const span of spans) {
    if (!(await exceedsUsageMax(db, { ...named, ...span }))) {
      return [span, true];
    }
  }
  return [spans.at(-1) ?? spans[0], false];
}

function msOf(time: Timestamp | undefined): number | undefined {
  return time && timestampMs(time);
}

/** The name with the most runs comes first, the rest last. */
function seriesOf(sums: readonly UsageSum[]): MessageInitShape<typeof UsageSeriesSchema>[] {
  const series = [...Map.groupBy(sums, ({ name }) => name)].map(([name, points]) => ({
    name: name ?? "",
    isRest: name === null,
    runs: points.reduce((sum, { completed, failed, cancelled }) => sum + completed + failed + cancelled, 0),
    total: toPoint(points.reduce(add)),
    points: points.map((point) => ({ ...toPoint(point), startTime: timestampFromDate(point.start_time) })),
  }));
  return series
    .toSorted((one, other) => Number(one.isRest) - Number(other.isRest) || other.runs - one.runs)
    .map(({ runs: _, ...rest }) => rest);
}

function add(one: UsageSum, other: UsageSum): UsageSum {
  const addCounts = (key: "durations" | "first_texts") =>
    one[key].map((count, index) => count + (other[key][index] ?? 0));
  return {
    ...one,
    completed: one.completed + other.completed,
    failed: one.failed + other.failed,
    cancelled: one.cancelled + other.cancelled,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    cost_micro_usd: one.cost_micro_usd + other.cost_micro_usd,
    durations: addCounts("durations"),
    first_texts: addCounts("first_texts"),
  };
}

function toPoint(sum: UsageSum): MessageInitShape<typeof UsagePointSchema> {
  const [duration, firstText] = [percentilesOf(sum.durations), percentilesOf(sum.first_texts)];
  return {
    completed: BigInt(sum.completed),
    failed: BigInt(sum.failed),
    cancelled: BigInt(sum.cancelled),
    promptTokens: BigInt(sum.prompt_tokens),
    completionTokens: BigInt(sum.completion_tokens),
    costMicroUsd: BigInt(sum.cost_micro_usd),
    ...(duration && { duration }),
    ...(firstText && { firstText }),
  };
}

function percentilesOf(buckets: readonly number[]): MessageInitShape<typeof TimePercentilesSchema> | undefined {
  const count = buckets.reduce((sum, runs) => sum + runs, 0);
  if (count === 0) {
    return undefined;
  }
  const at = (share: number): bigint => {
    let rest = Math.ceil(share * count);
    const index = buckets.findIndex((runs) => {
      rest -= runs;
      return rest <= 0;
    });
    return BigInt(Math.round(timeOfBucket(index + 1)));
  };
  return { count: BigInt(count), p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}
