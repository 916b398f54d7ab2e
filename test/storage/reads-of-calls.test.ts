// What a call reads does not grow with the tables. When Postgres last looked at them does not matter.

import pg from "pg";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { modelFlags } from "../conformance/stage.ts";
import { openProvider } from "../fixtures.ts";
import { keyOf } from "../harness/credentials.ts";
import { ownDatabase } from "../harness/database.ts";
import { growTables } from "../harness/grown-tables.ts";
import { startService } from "../harness/service.ts";
import { autovacuumOff, openReadMeter, type ReadMeter } from "./read-meter.ts";

const client = "key/local";
const growth = { client, sessions: 5_000, resultsPerRun: 3 };
/** The rows and index entries of all tables that one call may read. `/health` counts up to 1,000; small tables are read as a whole. */
const readsMax = 1_500;
/** A list by a filter that no row matches reads 1,000 rows, where its page ends, and the latest runs of sessions. */
const rareReadsMax = 3_500;
/** A connection keeps a plan at the sixth execution. */
const timesUntilKept = 6;
/** The clock of the service. Its sweeps, each minute, never come: they read on their own behalf, during any call. */
const clock: Clock = {
  ...systemClock,
  sleep: (delayMs, signal) => systemClock.sleep(delayMs < 60_000 ? delayMs : Number.MAX_SAFE_INTEGER, signal),
};
/** The service looks at its tables after 500 statements. A round makes more than 30. */
const roundsUntilNoticed = 30;
/** Otherwise a connection publishes up to ten seconds later how many rows it added and deleted. */
const publishCounts = "select pg_stat_force_next_flush()";

test("calls read few rows in a new database, in one that has grown, and after an analysis", async () => {
  const { meter, calls, makeCalls, grow } = await openCalls();
  await expectFewReads(meter, calls);
  await makeCalls(timesUntilKept);
  await expectFewReads(meter, calls);
  await grow();
  await expectFewReads(meter, calls);
  await meter.connection.query("analyze");
  await expectFewReads(meter, calls);
});

test("calls read few rows of tables that were analysed while they were empty", async () => {
  const { meter, calls, makeCalls, grow } = await openCalls();
  await meter.connection.query("analyze");
  await makeCalls(timesUntilKept);
  await grow();
  await expectFewReads(meter, calls);
});

test("calls read few rows of tables that were analysed while they were small", async () => {
  const { meter, calls, makeCalls, grow } = await openCalls();
  await makeCalls(timesUntilKept);
  await meter.connection.query("analyze");
  await makeCalls(timesUntilKept);
  await grow();
  await expectFewReads(meter, calls);
});

test("calls read few rows of tables that were emptied and have grown again in the same pages", async () => {
  const { meter, calls, makeCalls, grow } = await openCalls();
  await grow();
  await makeCalls(timesUntilKept);
  await deleteRows(meter.connection);
  await makeCalls(timesUntilKept);
  await grow();
  await expectFewReads(meter, calls);
});

type Calls = Readonly<Record<string, () => Promise<unknown>>>;

interface Stage {
  readonly meter: ReadMeter;
  readonly calls: Calls;
  readonly makeCalls: (times: number) => Promise<void>;
  /** Adds rows, and makes calls until the service has noticed. */
  readonly grow: () => Promise<void>;
}

async function openCalls(): Promise<Stage> {
  const databaseUrl = await ownDatabase();
  const meter = await openReadMeter(databaseUrl);
  // Only the service itself notices that its tables grow.
  await meter.connection.query(autovacuumOff);
  const provider = await openProvider();
  const { url } = await startService({ databaseUrl, ...modelFlags(provider), keepModelCalls: true }, { clock });
  const calls = callsOf(url);
  const makeCalls: Stage["makeCalls"] = async (times) => {
    for (let time = 0; time < times; time++) {
      for (const call of Object.values(calls)) {
        await call();
      }
    }
  };
  const isNoticed = async (): Promise<boolean> => {
    const { rows } = await meter.connection.query(`
      select from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
        and (pg_relation_size(oid) > 2 * relpages::int8 * current_setting('block_size')::int8
          or pg_stat_get_live_tuples(oid) > 2 * greatest(reltuples, 0) + 50)`);
    return rows.length === 0;
  };
  let first = 1;
  const grow: Stage["grow"] = async () => {
    await growTables(meter.connection, { ...growth, first });
    first += growth.sessions;
    await meter.connection.query(publishCounts);
    for (let round = 0; round < roundsUntilNoticed && !(await isNoticed()); round++) {
      await makeCalls(1);
    }
    expect(await isNoticed()).toBe(true);
  };
  return { meter, calls, makeCalls, grow };
}

function callsOf(url: string): Calls {
  const headers = { authorization: `Bearer ${keyOf()}`, "content-type": "application/json" };
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    expect([response.status, text], path).toEqual([expect.toBeOneOf([200, 201, 202, 204]), text]);
    return text.startsWith("{") ? JSON.parse(text) : {};
  };
  let count = 0;
  let session = "";
  let run = "";
  const list =
    (path: string): (() => Promise<unknown>) =>
    () =>
      ask("GET", path);
  return {
    "create a session": async () => {
      count += 1;
      session = `s-${count}`;
      await ask("POST", "/v1/sessions", { session_id: session, agent: { name: "a" } });
    },
    "send a message and follow the run": async () => {
      const sent = await ask("POST", `/v1/sessions/${session}/messages`, { message: "hello" });
      run = String(sent.run_id);
      await ask("GET", `/v1/sessions/${session}/stream`);
    },
    "get a session": () => ask("GET", `/v1/sessions/${session}`),
    "list sessions": list("/v1/sessions?page_size=5"),
    "list messages": () => ask("GET", `/v1/sessions/${session}/transcript`),
    "get a run": () => ask("GET", `/v1/runs/${run}`),
    "list runs": list("/v1/runs?page_size=5"),
    "list a large page of runs": list("/v1/runs?page_size=100"),
    "list a large page of sessions": list("/v1/sessions?page_size=100"),
    "list a large page of runs by their last change": list("/v1/runs?order=change_time&page_size=100"),
    "list active runs": list("/v1/runs?states=STATE_RUNNING&page_size=5"),
    "list failed runs": list("/v1/runs?states=failed&page_size=5"),
    "list cancelled runs": list("/v1/runs?states=cancelled&page_size=5"),
    "list runs by their last change": list("/v1/runs?order=change_time&page_size=5"),
    "list failed runs by their last change": list("/v1/runs?order=change_time&states=failed&page_size=5"),
    "list completed runs by their last change": list("/v1/runs?order=change_time&states=completed&page_size=5"),
    "list changed runs of a session": () => ask("GET", `/v1/runs?order=change_time&session_id=${session}&page_size=5`),
    "list runs of a session": () => ask("GET", `/v1/runs?session_id=${session}&page_size=5`),
    "search runs by a rare word": list("/v1/runs:search?query=hello&page_size=5"),
    "search runs by a frequent word": list("/v1/runs:search?query=grown&page_size=5"),
    "list sessions of a state": list("/v1/sessions?states=completed&page_size=5"),
    "list forks": () => ask("GET", `/v1/sessions?fork_of=${session}&page_size=5`),
    ...rareLists(list),
    "cancel the runs of an unknown model": () => ask("POST", "/v1/runs:cancel", { model: "unknown" }),
    "list the newest messages": () => ask("GET", `/v1/sessions/${session}/transcript?order=newest_first`),
    "list results": () => ask("GET", `/v1/runs/${run}/results`),
    "list the calls of models": () => ask("GET", `/v1/runs/${run}/model-calls`),
    "get a receipt": () => ask("GET", `/v1/runs/${run}/receipt`),
    "list callbacks": list("/v1/callbacks?page_size=5"),
    "list dead callbacks": list("/v1/callbacks?state=dead&page_size=5"),
    "list callbacks of a session": () => ask("GET", `/v1/callbacks?session_id=${session}&page_size=5`),
    "list approvals": list("/v1/approvals?page_size=5"),
    "list pending approvals": list("/v1/approvals?state=STATE_PENDING&page_size=5"),
    "list rejected approvals": list("/v1/approvals?state=STATE_REJECTED&page_size=5"),
    "list used approvals": list("/v1/approvals?state=STATE_USED&page_size=5"),
    "list expired approvals": list("/v1/approvals?state=STATE_EXPIRED&page_size=5"),
    "list schedules": list("/v1/schedules?page_size=5"),
    "list exchanges": list("/v1/exchanges?page_size=5"),
    "list bindings": list("/v1/bindings?page_size=5"),
    "list runners": list("/v1/runners?page_size=5"),
    "get the usage": list("/v1/usage"),
    "list the usage by day": list("/v1/usage/days"),
    "ask for the health": list("/health"),
    "create and purge a session": async () => {
      await ask("POST", "/v1/sessions", { session_id: `p-${count}`, agent: { name: "a" } });
      await ask("POST", `/v1/sessions/p-${count}:purge`, {});
    },
  };
}

const rare = "rare: ";

/** Lists by filters that no row matches, or few. */
function rareLists(list: (path: string) => () => Promise<unknown>): Calls {
  const ofRuns = ["agent_name", "model", "runner_id", "failure_code", "error_contains"].map(
    (name) => `${name}=unknown`,
  );
  const paths = [
    ...ofRuns.flatMap((filter) => [`runs?${filter}`, `runs?${filter}&order=change_time&count=true`]),
    ...ofRuns.map((filter) => `runs?${filter}&states=completed&states=cancelled`),
    "runs?states=failed&failure_code_not=model.timeout",
    "runs?create_time_from=2020-01-01T00:00:00Z&create_time_to=2020-01-02T00:00:00Z",
    "runs?change_time_to=2020-01-02T00:00:00Z",
    "sessions?agent_name=unknown",
    ...["created", "running", "completed", "failed", "cancelled"].map((state) => `sessions?states=${state}`),
  ];
  return Object.fromEntries(paths.map((path) => [`${rare}${path}`, list(`/v1/${path}`)]));
}

/** Deletes all rows but the last ones of each table, as a purge of the old sessions does. The tables keep their pages. */
async function deleteRows(connection: pg.Client): Promise<void> {
  const { rows } = await connection.query<{ name: string; pages: number }>(`
    select relname as name, pg_relation_size(oid) / current_setting('block_size')::int8 as pages from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'kysely%' and relname not in ('replica', 'secret')`);
  await connection.query("set session_replication_role = replica");
  for (const { name, pages } of rows) {
    const table = pg.escapeIdentifier(name);
    await connection.query(`delete from ${table} where ctid < '(${Math.max(0, Number(pages) - 1)},1)'`);
    await connection.query(publishCounts);
    await connection.query(`vacuum ${table}`);
  }
  await connection.query("set session_replication_role = origin");
}

async function expectFewReads(meter: ReadMeter, calls: Calls): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    const reads = Object.fromEntries(await meter.measure(call));
    const sum = Object.values(reads).reduce((total, each) => total + each, 0);
    const most = name.startsWith(rare) ? rareReadsMax : readsMax;
    expect([name, reads, sum]).toEqual([name, reads, expect.toSatisfy((rows) => rows <= most)]);
  }
}
