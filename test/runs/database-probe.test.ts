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
const pauseMs = 500;

test.for([
  ["the next check", false],
  ["a renewal that gets no answer", true],
] as const)(
  "a database that is away is noticed within 2 s by %s, and its return within 5 s",
  async ([, isProofDue], { databaseUrl: url }) => {
    const proxy = await openCuttingProxy(url);
    const { probe, troubles } = openDatabaseProbe(proxy.url, systemClock, () => isProofDue);
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
  },
);

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

test("the proof of another part takes the place of a check, but not of one that a refusal demands", async () => {
  const clock = createManualClock();
  const { connections, refuse, asked } = watched(await testDatabase());
  let isProofDue = false;
  const events = { databaseTroubled: () => {} };
  const probe = new DatabaseProbe({ connections, clock, events, isProofDue: () => isProofDue });
  onTestFinished(() => probe.close());
  /** Lets a half second pass, and waits until so many sleeps have begun. */
  const pass = async (sleeps: number): Promise<void> => {
    const before = clock.delaysMs.length;
    clock.advance(pauseMs);
    await clock.slept(before + sleeps);
  };
  probe.open();
  // A check counts the silence while it waits for its answer, and then pauses.
  await clock.slept(2);
  const first = asked();
  isProofDue = true;
  await pass(1);
  probe.hearProof();
  await clock.slept(4);
  await pass(1);
  expect(asked()).toBe(first);
  // A check follows a proof that does not come.
  await pass(2);
  expect(asked()).toBe(first + 1);
  refuse();
  await pass(2);
  expect(connections.connect).toHaveBeenCalledTimes(2);
  expect(new Set(clock.delaysMs)).toEqual(new Set([pauseMs]));
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

function openDatabaseProbe(url: string, clock: Clock = systemClock, isProofDue = () => false) {
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(() => connections.close());
  const troubles: string[] = [];
  const probe = new DatabaseProbe({
    connections,
    clock,
    events: { databaseTroubled: ({ part }) => troubles.push(part) },
    isProofDue,
  });
  onTestFinished(() => probe.close());
  probe.open();
  return { probe, connections, troubles };
}

/** Connections that count their statements, and of which a test can say that Postgres has refused one. */
function watched(url: string) {
  const { connections } = connect(url);
  let refuse = (): void => {};
  let asked = 0;
  const open = async (...options: Parameters<typeof connections.connect>) => {
    const client = await connections.connect(...options);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      asked += 1;
      return query(...args);
    }) as typeof client.query;
    return client;
  };
  const watchRefusals = (onRefused: () => void): void => {
    refuse = onRefused;
  };
  return { connections: { connect: vi.fn(open), watchRefusals }, refuse: () => refuse(), asked: () => asked };
}

async function probeConnection(url: string): Promise<number | undefined> {
  const rows = await query<{ pid: number }>(
    url,
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'runnel probe'",
  );
  return rows[0]?.pid;
}
