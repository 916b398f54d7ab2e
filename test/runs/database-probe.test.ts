// The probe of the database: fails when the database is away or refuses work, never because this process was busy.

import { expect, onTestFinished, vi } from "vitest";
import { DatabaseProbe } from "../../src/engine/runs/database-probe.ts";
import { askForRoom } from "../../src/engine/storage/database-probe.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { openConnections } from "../../src/platform/database/database.ts";
import { describeOutage } from "../../src/platform/database/errors.ts";
import { test } from "../fixtures.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { limitedUser, query, testDatabase } from "../harness/database.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { addReplica, connect } from "../runlog/store.ts";

/** The promised maximums for readiness; the probe takes the larger part of each. */
const offMaxMs = 2_000;
const onMaxMs = 5_000;
const sliceMs = 190;
const pauseMs = 560;

test("a database that is away is noticed within 2 s, and its return within 5 s", async ({ databaseUrl: url }) => {
  const proxy = await openCuttingProxy(url);
  const { probe, troubles } = openDatabaseProbe(proxy.url);
  await until("the probe's connection", () => probeConnection(url));
  const brokenAtMs = performance.now();
  proxy.breakDown();
  await until("the probe to fail", () => probe.whyFailing() !== null);
  expect(performance.now() - brokenAtMs).toBeLessThan(offMaxMs);
  expect(probe.whyFailing()).toBe("the database does not answer");
  proxy.mend();
  const mendedAtMs = performance.now();
  await until("the probe", () => probe.whyFailing() === null);
  expect(performance.now() - mendedAtMs).toBeLessThan(onMaxMs);
  expect(troubles).toEqual(["probe"]);
});

test("a connection that is cut while the database works is replaced before the probe fails", async () => {
  const url = await testDatabase();
  const { probe } = openDatabaseProbe(url);
  const first = await until("the probe's connection", () => probeConnection(url));
  await query(url, "select pg_terminate_backend($1)", [first]);
  await until("another one", async () => {
    expect(probe.whyFailing()).toBeNull();
    const next = await probeConnection(url);
    return next !== undefined && next !== first;
  });
});

// After a pause of a minute, all timers of the process are due before it reads what the database sent meanwhile.
test("a pause of this process counts as one slice of silence", async () => {
  const proxy = await openCuttingProxy(await testDatabase());
  const clock = createManualClock();
  const { probe } = openDatabaseProbe(proxy.url, clock);
  await clock.slept(2);
  proxy.breakDown();
  for (let pauses = 1; pauses <= 3; pauses++) {
    const sleeps = clock.delaysMs.length;
    clock.advance(60_000);
    await clock.slept(sleeps + 1);
    expect(probe.whyFailing()).toBeNull();
  }
  await until("the probe to fail", () => {
    clock.advance(sliceMs);
    return probe.whyFailing() !== null;
  });
});

test("a proof of another part delays the next check, but not one that a refusal demands", async () => {
  const clock = createManualClock();
  const { connections, refuse } = refusable(await testDatabase());
  const probe = new DatabaseProbe({ connections, clock, events: { databaseTroubled: () => {} } });
  onTestFinished(() => probe.close());
  probe.open();
  // A check counts slices while it waits, and then pauses.
  await clock.slept(2);
  clock.advance(pauseMs - 1);
  probe.hearProof();
  await clock.slept(3);
  clock.advance(pauseMs - 1);
  expect(clock.delaysMs).toEqual([sliceMs, pauseMs, pauseMs]);
  clock.advance(1);
  await clock.slept(5);
  refuse();
  probe.hearProof();
  clock.advance(pauseMs);
  await clock.slept(7);
  expect(clock.delaysMs.slice(3)).toEqual([sliceMs, pauseMs, sliceMs, pauseMs]);
  expect(connections.connect).toHaveBeenCalledTimes(2);
});

test("a full connection pool does not make the probe fail", async ({ databaseUrl: url }) => {
  const { probe, connections } = openDatabaseProbe(url);
  const held = Promise.withResolvers<void>();
  const holders = [1, 2].map(() => connections.db.transaction().execute(() => held.promise));
  const waiting = connections.db.selectFrom("run").select("id").execute();
  const error = await waiting.catch((failure: unknown) => failure);
  expect(describeOutage(error)).toMatch(/^no database connection became free in time/);
  expect(probe.whyFailing()).toBeNull();
  held.resolve();
  await Promise.all(holders);
});

// The probe holds an open connection, which would keep answering.
test("a server that accepts no new connections is noticed as soon as it has refused one", async () => {
  const url = await testDatabase();
  const user = await limitedUser(url, 2);
  const { probe, connections } = openDatabaseProbe(user.url);
  await until("the probe's connection", () => probeConnection(url));
  const other = connect(user.url);
  await other.db.selectFrom("run").select("id").execute();
  await expect(connections.db.selectFrom("run").select("id").execute()).rejects.toThrow("too many connections");
  await until("the probe to fail", () => probe.whyFailing() === "the database refuses work");
  await other.connections.close();
  await until("the probe", () => probe.whyFailing() === null);
});

test("a database that takes no writes is noticed, and so is the moment it takes them again", async () => {
  const url = await testDatabase();
  const user = await limitedUser(url, 10);
  await query(url, `alter role ${user.name} set default_transaction_read_only = on`);
  const { probe, connections } = openDatabaseProbe(user.url);
  await expect(addReplica(connections.db)).rejects.toThrow("read-only");
  await until("the probe to fail", () => probe.whyFailing() === "the database refuses work");
  await query(url, `alter role ${user.name} reset default_transaction_read_only`);
  await until("the probe", () => probe.whyFailing() === null);
});

test("asking for room uses temporary space on disk", async () => {
  const { connections } = connect(await testDatabase());
  const client = await connections.connect("test");
  try {
    await askForRoom(client);
    await client.query("set temp_file_limit = 0");
    await expect(askForRoom(client)).rejects.toThrow("temporary file size");
    // The setting applies to its own transaction only.
    const { rows } = await client.query("show work_mem");
    expect(rows).not.toEqual([{ work_mem: "64kB" }]);
  } finally {
    await client.end();
  }
});

function openDatabaseProbe(url: string, clock: Clock = systemClock) {
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(() => connections.close());
  const troubles: string[] = [];
  const probe = new DatabaseProbe({
    connections,
    clock,
    events: { databaseTroubled: ({ part }) => troubles.push(part) },
  });
  onTestFinished(() => probe.close());
  probe.open();
  return { probe, connections, troubles };
}

/** Connections of which a test can say that Postgres has refused one. */
function refusable(url: string) {
  const { connections } = connect(url);
  let refuse = (): void => {};
  const watchRefusals = (onRefused: () => void): void => {
    refuse = onRefused;
  };
  return { connections: { connect: vi.fn(connections.connect), watchRefusals }, refuse: () => refuse() };
}

async function probeConnection(url: string): Promise<number | undefined> {
  const rows = await query<{ pid: number }>(
    url,
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'runnel probe'",
  );
  return rows[0]?.pid;
}
