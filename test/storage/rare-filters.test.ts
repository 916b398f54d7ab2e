// A list whose filter few rows match: page after page gives what an unbounded search would give, while rows go.

import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { listChangedRuns, listClientRuns, listRunsToCancel } from "../../src/engine/storage/client-run.ts";
import type { RunFilter } from "../../src/engine/storage/run-filter.ts";
import type { RunStatus } from "../../src/engine/storage/schema.ts";
import { listSessions, type SessionFilter } from "../../src/engine/storage/session.ts";
import type { Db } from "../../src/platform/database/database.ts";
import type { BoundedPage } from "../../src/platform/database/row-page.ts";
import { openStore } from "../runlog/store.ts";

const client = "shared/test";
/** More than a page reads, three times. */
const runs = 3_400;
const numRuns = 20;

interface ListedRun {
  readonly id: string;
  readonly session: string;
  readonly client: string;
  readonly status: RunStatus;
  readonly agent_name: string;
  readonly model: string;
  readonly failure: string | null;
  readonly cancel_request_time: Date | null;
  readonly create_time: Date;
  readonly changed_ms: number;
}

/** Runs of two clients. Rare agents and models, failures and ends, many changes at the same moment, and some active runs. */
async function addRuns(db: Db): Promise<readonly ListedRun[]> {
  await sql`
    with made as materialized (
      select n, gen_random_uuid() as session, encode(overlay(uuid_send(gen_random_uuid()) placing
        substring(int8send((extract(epoch from at) * 1000)::int8) from 3) from 1 for 6), 'hex')::uuid as run, at,
        case when n % 7 = 0 then 'other' else ${client} end as client
      from generate_series(1, ${runs}::int) as n
        cross join lateral (select timestamptz '2026-01-01' + n * interval '1 minute' as at) as given
    ), added as (
      insert into session (id, client, name, agent, create_time, latest_run_id, hidden)
      select session, client, 's' || n, '', at, case when n % 311 <> 0 then run end, n % 97 = 0 from made
    )
    insert into run (id, client, session, driver, input, status, epoch, deadline, create_time, end_time, agent_name, model, failure)
    select run, client, session, 'test', '', status, 1, at, at,
      case when status in ('completed', 'failed', 'cancelled') then timestamptz '2026-02-01' - (n / 40) * interval '1 second' end,
      case when n % 283 = 0 then 'rare' else 'usual' end, case when n % 401 = 0 then 'rare' else 'usual' end,
      case when status = 'failed' or status = 'cancelled' and n % 2 = 0 then case when n % 3 = 0 then 'rejected' else 'model.timeout' end || chr(10) || 'Why ' || n end
    from made cross join lateral (
      select case when n % 53 = 0 then 'failed' when n % 59 = 0 then 'cancelled' when n % 61 = 0 then 'queued'
        when n % 67 = 0 then 'waiting' else 'completed' end as status
    ) as ended`.execute(db);
  const { rows } = await sql<ListedRun>`
    select run.*, (extract(epoch from coalesce(end_time, create_time)) * 1000)::float8 as changed_ms from run`.execute(
    db,
  );
  return rows;
}

const days = fc.option(
  fc.integer({ min: 0, max: 3 }).map((day) => new Date(Date.UTC(2026, 0, 1 + day))),
  { nil: undefined },
);
const seconds = fc.option(
  fc.integer({ min: 0, max: 90 }).map((second) => new Date(Date.UTC(2026, 1, 1) - second * 1_000)),
  { nil: undefined },
);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const statuses = fc.uniqueArray(fc.constantFrom<RunStatus>("queued", "waiting", "completed", "failed", "cancelled"), {
  minLength: 1,
});
const filters: fc.Arbitrary<RunFilter> = fc.record({
  client: fc.constantFrom(client, "other"),
  states: rarely(statuses),
  agentName: rarely(fc.constantFrom("rare", "usual", "none")),
  model: rarely(fc.constantFrom("rare", "usual")),
  failureCode: rarely(fc.constantFrom("rejected", "none")),
  failureCodeNot: rarely(fc.constant("rejected")),
  errorContains: rarely(fc.constantFrom("why 1", "none")),
  createTimeFrom: days,
  createTimeTo: days,
  changeTimeFrom: seconds,
  changeTimeTo: seconds,
});

function isMatch(run: ListedRun, filter: RunFilter): boolean {
  const [code = "", message = ""] = run.failure?.split("\n") ?? [];
  const is = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;
  const isWithin = (ms: number, from: Date | undefined, to: Date | undefined): boolean =>
    ms >= (from?.getTime() ?? Number.NEGATIVE_INFINITY) && ms < (to?.getTime() ?? Number.POSITIVE_INFINITY);
  const text = `${code}\n${message}`.toLowerCase();
  return (
    run.client === filter.client &&
    filter.states?.includes(run.status) !== false &&
    is(filter.agentName, run.agent_name) &&
    is(filter.model, run.model) &&
    is(filter.failureCode, code) &&
    filter.failureCodeNot !== code &&
    (filter.errorContains === undefined || (run.failure !== null && text.includes(filter.errorContains))) &&
    isWithin(run.create_time.getTime(), filter.createTimeFrom, filter.createTimeTo) &&
    isWithin(run.changed_ms, filter.changeTimeFrom, filter.changeTimeTo)
  );
}

test("page after page, a list of runs has each that matches once, in order, while runs are deleted", {
  timeout: 120_000,
}, async () => {
  const { db } = await openStore();
  const all = await addRuns(db);
  const asked = fc.record({
    filter: filters,
    limit: fc.constantFrom(7, 50, 250),
    isByChange: fc.boolean(),
    deleted: fc.uniqueArray(fc.nat(all.length - 1), { maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ filter, limit, isByChange, deleted }) => {
      const list = isByChange ? listChangedRuns : listClientRuns;
      const gone = deleted.flatMap((index) => all[index]?.id ?? []);
      const found = await readAll(
        (before) => list(db, filter, { before, limit }),
        () => setDeleted(db, gone, true),
      );
      await setDeleted(db, gone, false);
      const wanted = all
        .filter((run) => isMatch(run, filter))
        .toSorted(isByChange ? byChange : byId)
        .map(({ id }) => id);
      // A run that is deleted after the first page may be on that page.
      expect(found.filter((id) => !gone.includes(id))).toEqual(wanted.filter((id) => !gone.includes(id)));
      expect(found.filter((id) => !wanted.includes(id))).toEqual([]);
    }),
    { numRuns },
  );
});

test("cancelling by a filter finds each active run that matches", { timeout: 120_000 }, async () => {
  const { db } = await openStore();
  await addRuns(db);
  await sql`update run set status = 'queued', end_time = null`.execute(db);
  const { rows } = await sql<{ id: string }>`
    select id from run where client = ${client} and agent_name = 'rare' order by id desc`.execute(db);
  const found = await readAll((before) => listRunsToCancel(db, { client, agentName: "rare" }, { before, limit: 2 }));
  expect(found).toEqual(rows.map(({ id }) => id));
  expect(found.length).toBeGreaterThan(5);
});

test("page after page, a list of sessions has each that matches once, in order", { timeout: 120_000 }, async () => {
  const { db } = await openStore();
  const all = new Map((await addRuns(db)).map((run) => [run.session, run]));
  const { rows: sessions } = await sql<{ id: string; client: string; hidden: boolean; latest_run_id: string | null }>`
    select id, client, hidden, latest_run_id from session order by id desc`.execute(db);
  const asked = fc.record({
    filter: fc.record({
      client: fc.constantFrom(client, "other"),
      agentName: rarely(fc.constantFrom("rare", "usual", "none")),
      runStatuses: rarely(
        fc.uniqueArray(fc.constantFrom("queued", "failed", "cancelled", "completed", null), { minLength: 1 }),
      ),
    }),
    limit: fc.constantFrom(7, 50, 250),
  }) as fc.Arbitrary<{ filter: SessionFilter; limit: number }>;
  await fc.assert(
    fc.asyncProperty(asked, async ({ filter, limit }) => {
      const found = await readAll((before) => listSessions(db, filter, { before, limit }));
      const wanted = sessions.filter((session) => {
        const run = session.latest_run_id === null ? undefined : all.get(session.id);
        return (
          session.client === filter.client &&
          !session.hidden &&
          (filter.agentName === undefined || run?.agent_name === filter.agentName) &&
          filter.runStatuses?.includes(run?.status ?? null) !== false
        );
      });
      expect(found).toEqual(wanted.map(({ id }) => id));
    }),
    { numRuns },
  );
});

test("a page without a match tells where the list goes on, and the last page does not", async () => {
  const { db } = await openStore();
  await addRuns(db);
  const filter = { client, agentName: "none" };
  const page = await listClientRuns(db, filter, { before: undefined, limit: 50 });
  expect(page).toEqual({ rows: [], next: expect.any(String) });
  const { rows } = await sql<{ newer: number }>`
    select count(*) as newer from run where client = ${client} and id >= ${page.next ?? ""}`.execute(db);
  expect(rows[0]?.newer).toBe(1_000);
});

/** Reads all pages. Calls `meanwhile` after the first. */
async function readAll(
  read: (before: string | undefined) => Promise<BoundedPage<{ readonly id: string }>>,
  meanwhile: () => Promise<void> = async () => {},
): Promise<string[]> {
  const found: string[] = [];
  let before: string | undefined;
  do {
    const { rows, next } = await read(before);
    found.push(...rows.map(({ id }) => id));
    if (before === undefined) {
      await meanwhile();
    }
    before = next;
  } while (before !== undefined);
  return found;
}

async function setDeleted(db: Db, ids: readonly string[], isDeleted: boolean): Promise<void> {
  await db
    .updateTable("run")
    .set({ delete_time: isDeleted ? new Date() : null })
    .where("id", "in", ["00000000-0000-0000-0000-000000000000", ...ids])
    .execute();
}

function byId(one: ListedRun, other: ListedRun): number {
  return one.id < other.id ? 1 : -1;
}

function byChange(one: ListedRun, other: ListedRun): number {
  return other.changed_ms - one.changed_ms || byId(one, other);
}
