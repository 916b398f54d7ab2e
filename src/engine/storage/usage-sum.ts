// The sums of what ended runs used. The end of a run adds a row to `ended_run` in its own transaction, so ends wait for no sum; a fold
// adds these rows to the sums of their periods and deletes them.
//
// U1  A run counts once: its row is written with its end, and deleted with the fold.
// U2  Folds and purges come one by one, so a purge knows whether the sums have a run.

import { type RawBuilder, sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** The periods that sums are kept for, shortest first, and for how long. */
export const usagePeriods: readonly { readonly seconds: number; readonly keptSeconds: number }[] = [
  { seconds: 60, keptSeconds: 86_400 },
  { seconds: 300, keptSeconds: 3 * 86_400 },
  { seconds: 3_600, keptSeconds: 14 * 86_400 },
  { seconds: 86_400, keptSeconds: 92 * 86_400 },
];

/** The number of runs in a fold: it holds up others for milliseconds. */
const runsPerFold = 2_000;
/** The maximum number of agents and models of a client in a period. Runs of more have no names in the sums. */
const namesMax = 200;
/** The largest sum that fits into a number; runners may report any figures. */
const sumMax = sql.lit(Number.MAX_SAFE_INTEGER);

/** The number of buckets of time. The last one has all longer times: a day and a half, and more. */
const buckets = 96;
const firstBoundMs = 10;
/** The bounds of buckets grow by 19 %. */
const bucketsPerDoubling = 4;

/** Returns the middle of a bucket in milliseconds, which each of its times misses by at most 10 %. The first bucket is 1. */
export function timeOfBucket(bucket: number): number {
  return firstBoundMs * 2 ** ((bucket - 1.5) / bucketsPerDoubling);
}

function bucketOf(ms: RawBuilder<number>): RawBuilder<number> {
  const exact = sql`${sql.lit(bucketsPerDoubling)} * ln(greatest(${ms}, 1)::float8 / ${sql.lit(firstBoundMs)}) / ln(2::float8)`;
  return sql`case when ${ms} is not null then least(${sql.lit(buckets)}, greatest(1, ceil(${exact}) + 1))::int end`;
}

/** The runs of a source in each of their periods. Times that are unknown are null. */
function inPeriods(source: RawBuilder<unknown>): RawBuilder<unknown> {
  const duration = sql<number>`(extract(epoch from end_time - start_time) * 1000)`;
  return sql`
    select run.client, period.seconds, to_timestamp(floor(extract(epoch from end_time) / period.seconds) * period.seconds) as start_time,
      coalesce(agent_name, '') as agent_name, coalesce(model, '') as model, status, coalesce(prompt_tokens, 0) as prompt_tokens,
      coalesce(completion_tokens, 0) as completion_tokens, coalesce(cost_micro_usd, 0) as cost_micro_usd,
      ${bucketOf(duration)} as duration, ${bucketOf(sql<number>`ended.first_text_ms`)} as first_text
    from ${source} as ended join run on run.id = ended.run_id
      cross join (values ${sql.join(usagePeriods.map(({ seconds }) => sql`(${sql.lit(seconds)})`))}) as period (seconds)`;
}

/** Notes the end of a run for the sums, in the transaction of the end. */
export async function insertEndedRun(
  trx: Transaction,
  { runId, firstTextMs }: { runId: string; firstTextMs: number | undefined },
): Promise<void> {
  await sql`insert into ended_run (run_id, first_text_ms) values (${runId}, ${firstTextMs ?? null})`.execute(trx);
}

/** Adds all runs that have ended to the sums. */
export async function foldEndedRuns(db: Db): Promise<void> {
  let folded: number;
  do {
    folded = await db.transaction().execute(foldSome);
  } while (folded === runsPerFold);
}

async function foldSome(trx: Transaction): Promise<number> {
  await lockSums(trx);
  const counts = sql.join(endStatuses.map((column) => sql.ref(column)));
  const amounts = sql.join(amountColumns.map((column) => sql.ref(column)));
  const { rows } = await sql<{ folded: number }>`
    with ended as materialized (
      delete from ended_run where position in (select position from ended_run order by position limit ${sql.lit(runsPerFold)})
      returning run_id, first_text_ms
    ), spread as materialized (${inPeriods(sql`ended`)}), name as (
      select asked.*, known.client is not null or row_number() over (
          partition by asked.client, seconds, start_time, known.client is null order by agent_name, model
        ) + (
          select count(*) from usage_sum as other
          where other.client = asked.client and other.seconds = asked.seconds and other.start_time = asked.start_time
        ) <= ${namesMax} as is_kept
      from (select distinct client, seconds, start_time, agent_name, model from spread) as asked
        left join usage_sum as known using (client, seconds, start_time, agent_name, model)
    ), added as (
      select spread.client, seconds, start_time, case when is_kept then agent_name else '' end as agent_name,
        case when is_kept then model else '' end as model,
        ${sql.join(endStatuses.map((status) => sql`count(*) filter (where status = ${sql.lit(status)}) as ${sql.ref(status)}`))},
        ${sql.join(amountColumns.map((column) => sql`least(sum(${sql.ref(column)}), ${sumMax})::int8 as ${sql.ref(column)}`))},
        array_agg(duration) as durations, array_agg(first_text) as first_texts
      from spread join name using (client, seconds, start_time, agent_name, model)
      group by 1, 2, 3, 4, 5
    ), summed as (
      insert into usage_sum as known (client, seconds, start_time, agent_name, model, ${counts}, ${amounts}, durations, first_texts)
      select client, seconds, start_time, agent_name, model, ${counts}, ${amounts}, ${countsOf("durations")}, ${countsOf("first_texts")}
      from added
      on conflict (client, seconds, start_time, agent_name, model) do update set
        ${sql.join(endStatuses.map((column) => sql`${sql.ref(column)} = known.${sql.ref(column)} + excluded.${sql.ref(column)}`))},
        ${sql.join(amountColumns.map((column) => sql`${sql.ref(column)} = least(known.${sql.ref(column)} + excluded.${sql.ref(column)}, ${sumMax})`))},
        durations = ${addedCounts("durations")}, first_texts = ${addedCounts("first_texts")}
    )
    select count(*) as folded from ended`.execute(trx);
  return rows[0]?.folded ?? 0;
}

const endStatuses = ["completed", "failed", "cancelled"] as const;
const amountColumns = ["prompt_tokens", "completion_tokens", "cost_micro_usd"] as const;

/** Returns the number of times in each bucket. */
function countsOf(column: string): RawBuilder<unknown> {
  return sql`array(
    select count(measured)::int from generate_series(1, ${sql.lit(buckets)}) as bucket
      left join unnest(${sql.ref(column)}) as measured on measured = bucket
    group by bucket order by bucket)`;
}

function addedCounts(column: string): RawBuilder<unknown> {
  return sql`array(
    select one + other from unnest(known.${sql.ref(column)}, excluded.${sql.ref(column)}) with ordinality as both_counts (one, other, bucket)
    order by bucket)`;
}

/** One fold or purge at a time, over all replicas. */
async function lockSums(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('runnel usage sums'))`.execute(trx);
}

/**
 * Prepares a purge of a locked run: takes the run out of the sums of its agent, and has the next fold count it without a name.
 * The time to its first text stays in the sums.
 */
export async function unnameUsage(trx: Transaction, runId: string): Promise<void> {
  await lockSums(trx);
  const gone = inPeriods(sql`(
    select id as run_id, null::int8 as first_text_ms from run
    where id = ${runId} and end_time is not null and coalesce(agent_name, '') <> ''
      and not exists (select from ended_run where run_id = ${runId}))`);
  const isGone = sql`known.client = gone.client and known.seconds = gone.seconds and known.start_time = gone.start_time
    and known.agent_name = gone.agent_name and known.model = gone.model`;
  const { numAffectedRows = 0n } = await sql`
    update usage_sum as known set
      ${sql.join(endStatuses.map((status) => sql`${sql.ref(status)} = known.${sql.ref(status)} - (gone.status = ${sql.lit(status)})::int`))},
      ${sql.join(amountColumns.map((column) => sql`${sql.ref(column)} = greatest(0, known.${sql.ref(column)} - gone.${sql.ref(column)})`))},
      durations = array(
        select runs - coalesce((bucket = gone.duration)::int, 0)
        from unnest(known.durations) with ordinality as counted (runs, bucket) order by bucket)
    from (${gone}) as gone where ${isGone}`.execute(trx);
  if (numAffectedRows > 0n) {
    await sql`
      delete from usage_sum as known using (${gone}) as gone
      where ${isGone} and known.completed + known.failed + known.cancelled = 0`.execute(trx);
    await insertEndedRun(trx, { runId, firstTextMs: undefined });
  }
}

/** Deletes the sums of periods that are kept no longer. */
export async function deleteUsageSums(db: Db): Promise<void> {
  for (const { seconds, keptSeconds } of usagePeriods) {
    await sql`
      delete from usage_sum
      where seconds = ${seconds} and start_time < now() - ${keptSeconds + seconds} * interval '1 second'`.execute(db);
  }
}

/** What to read. */
export interface UsageQuery extends UsageFilter {
  readonly groupBy: "agent_name" | "model" | "client" | undefined;
  /** The maximum number of names; all others share a series. */
  readonly seriesMax: number;
  /** Whether to add up the buckets of time, which takes thirty times as long. */
  readonly withTimes: boolean;
}

/** Which sums to read. */
export interface UsageFilter {
  /** Undefined for all clients. */
  readonly client: string | undefined;
  /** The length of a period. */
  readonly seconds: number;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly agentName: string | undefined;
  readonly model: string | undefined;
}

/** A sum of one name in one period. */
export interface UsageSum {
  /** Null for all names without a series of their own. */
  readonly name: string | null;
  readonly start_time: Date;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micro_usd: number;
  /** The number of runs in each bucket of time. */
  readonly durations: readonly number[];
  readonly first_texts: readonly number[];
}

/** The rows of sums that a query may add up. To add up so many takes half a second of Postgres. */
const sumsPerQueryMax = 20_000;

/** Returns true when a query would add up more rows than it may. */
export async function exceedsUsageMax(db: Db, query: UsageFilter): Promise<boolean> {
  const { rows } = await sql`select from usage_sum where ${isAsked(query)} offset ${sumsPerQueryMax} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

function isAsked({ client, seconds, from, to, agentName, model }: UsageFilter) {
  const is = (column: string, value: string | undefined) =>
    value === undefined ? sql`` : sql` and ${sql.ref(column)} = ${value}`;
  return sql`seconds = ${seconds} and start_time >= ${from} and start_time < ${to}
    ${is("client", client)}${is("agent_name", agentName)}${is("model", model)}`;
}

/** Returns the sums of the names with the most runs, and of all others; oldest first, then by name. */
export async function readUsage(db: Db, query: UsageQuery): Promise<UsageSum[]> {
  const { groupBy, seriesMax, withTimes } = query;
  const amounts = [...endStatuses, ...amountColumns];
  const read = sql.join(
    ["start_time", ...amounts, ...(withTimes ? ["durations", "first_texts"] : [])].map((column) => sql.ref(column)),
  );
  const sums = sql.join(
    amounts.map((column) => sql`least(sum(${sql.ref(column)}), ${sumMax})::int8 as ${sql.ref(column)}`),
  );
  const { rows } = await sql<FilledSum>`
    with chosen as materialized (
      select ${read}, ${groupBy === undefined ? sql`''` : sql.ref(groupBy)} as own_name from usage_sum where ${isAsked(query)}
    ), top as materialized (
      select own_name as name from chosen group by 1 order by sum(completed + failed + cancelled) desc, 1 limit ${sql.lit(seriesMax)}
    ), named as materialized (
      select top.name, chosen.* from chosen left join top on top.name = own_name
    ), counted as (${withTimes ? filledBuckets : noBuckets}), summed as (
      select name, start_time, ${sums} from named group by 1, 2
    )
    select summed.*, buckets, durations, first_texts
    from summed left join counted on counted.start_time = summed.start_time and counted.name is not distinct from summed.name
    order by summed.start_time, summed.name`.execute(db);
  return rows.map(({ buckets: filled, durations, first_texts, ...sum }) => ({
    ...sum,
    durations: spreadCounts(filled, durations),
    first_texts: spreadCounts(filled, first_texts),
  }));
}

/** Most buckets have no run, and Postgres would take ten times as long for them all. */
const filledBuckets = sql`
  select name, start_time, array_agg(bucket::int4) as buckets, array_agg(duration) as durations, array_agg(first_text) as first_texts
  from (
    select name, start_time, bucket, sum(duration)::int4 as duration, sum(first_text)::int4 as first_text
    from named cross join unnest(durations, first_texts) with ordinality as both_counts (duration, first_text, bucket)
    where duration > 0 or first_text > 0
    group by 1, 2, 3
  ) as by_bucket group by 1, 2`;
const noBuckets = sql`
  select null::text as name, null::timestamptz as start_time, null::int4[] as buckets, null::int4[] as durations, null::int4[] as first_texts`;

/** A sum with the counts of the buckets that have runs. */
interface FilledSum extends Omit<UsageSum, "durations" | "first_texts"> {
  /** Null when no time is known. */
  readonly buckets: readonly number[] | null;
  readonly durations: readonly number[] | null;
  readonly first_texts: readonly number[] | null;
}

function spreadCounts(filled: readonly number[] | null, counts: readonly number[] | null): number[] {
  const all = new Array<number>(buckets).fill(0);
  for (const [index, bucket] of filled?.entries() ?? []) {
    all[bucket - 1] = counts?.[index] ?? 0;
  }
  return all;
}
