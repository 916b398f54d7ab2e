// Failovers of a real cluster: three nodes under Patroni, three members of etcd, HAProxy, and two replicas of the service. Each
// byte that a reader received is compared with the log in the end. The table at the end is that of docs/operations/failover.md.

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linesOf, startRun } from "../fault/cluster.ts";
import { expectSameWhereKept, readToTheEnd } from "../fault/database/lost-results.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { LogReader, readLog } from "../fault/log-reader.ts";
import { until } from "../harness/wait.ts";
import {
  failoverMs,
  longMessage,
  runsPerReplica,
  startReplicas,
  Table,
  underLoad,
  untilAnotherLeads,
  watchDelivery,
} from "./cases.ts";
import { openPatroniCluster, type PatroniCluster } from "./patroni-cluster.ts";
import { tally } from "./tally.ts";

/** How long a frozen or cut part stays away: shorter than Patroni's ttl. */
const awayMs = 5_000;
/** Longer than Patroni's ttl. */
const lockOutlivedMs = 25_000;
/** What an asynchronous standby has not received. */
const unsentMs = 500;

const table = new Table();
let cluster: PatroniCluster;

beforeAll(async () => {
  cluster = await openPatroniCluster();
});

afterAll(async () => {
  process.stdout.write(`${table.print()}\n`);
  await cluster[Symbol.asyncDispose]();
});

test("Postgres of the primary is killed", async () => {
  const { primary } = await cluster.whole();
  const name = "Postgres of the primary killed";
  await underLoad([cluster, table], { name, message: longMessage, kills: 1 }, async () => {
    primary.signal("SIGKILL");
    await untilAnotherLeads(cluster, primary);
  });
});

test("Postgres and Patroni of the primary are killed", async () => {
  const { primary } = await cluster.whole();
  const name = "Postgres and Patroni of the primary killed";
  await underLoad([cluster, table], { name, message: longMessage, kills: 2 }, async () => {
    await primary.patroni.kill();
    primary.signal("SIGKILL");
    await untilAnotherLeads(cluster, primary, () => primary.patroni.start());
  });
});

test("the primary is frozen until another one leads, and then continues as if it were still primary", async () => {
  const { primary } = await cluster.whole();
  const name = "the primary's machine frozen until another leads, then thawed";
  await underLoad([cluster, table], { name, message: longMessage }, async () => {
    freeze([primary.patroni, primary]);
    await untilAnotherLeads(cluster, primary, () => thaw([primary.patroni, primary]));
  });
});

test("a standby is frozen: the other one acknowledges commits", async () => {
  const { standbys } = await cluster.whole();
  const name = "one standby frozen for 5 s";
  const gapMs = await underLoad([cluster, table], { name }, () => freezeForAWhile(standbys.slice(0, 1)));
  expect(gapMs).toBeLessThan(awayMs);
});

test("both standbys are frozen: commits wait for them", async () => {
  const { standbys } = await cluster.whole();
  const name = "both standbys frozen for 5 s";
  const gapMs = await underLoad([cluster, table], { name }, () => freezeForAWhile(standbys));
  // A commit that was sent just before may still return.
  expect(gapMs).toBeGreaterThan(awayMs / 2);
});

test.each(["the leader", "a follower"] as const)(
  "%s of etcd is killed: the other two members elect and answer",
  async (role) => {
    await cluster.whole();
    const { leader, followers } = await cluster.etcdRoles();
    const member = role === "the leader" ? leader : (followers[0] ?? leader);
    const gapMs = await underLoad([cluster, table], { name: `${role} of etcd killed`, kills: 1 }, async () => {
      await member.kill();
      await delay(awayMs);
      member.start();
    });
    expect(gapMs).toBeLessThan(failoverMs);
  },
);

test.each(["the leader", "a follower"] as const)(
  "%s of etcd is frozen for longer than a primary's lock lasts",
  async (role) => {
    await cluster.whole();
    const { leader, followers } = await cluster.etcdRoles();
    const member = role === "the leader" ? leader : (followers[0] ?? leader);
    const name = `${role} of etcd frozen for 25 s`;
    const gapMs = await underLoad([cluster, table], { name, message: longMessage }, async () => {
      member.signal("SIGSTOP");
      await delay(lockOutlivedMs);
      member.signal("SIGCONT");
    });
    expect(gapMs).toBeLessThan(failoverMs);
  },
);

test("etcd is away: the primary stays, because it reaches all nodes", async () => {
  await cluster.whole();
  await underLoad([cluster, table], { name: "all three members of etcd killed for 5 s", kills: 3 }, async () => {
    await Promise.all(cluster.etcd.map((member) => member.kill()));
    await delay(awayMs);
    for (const member of cluster.etcd) {
      member.start();
    }
  });
});

test("HAProxy is restarted", async () => {
  await cluster.whole();
  await underLoad([cluster, table], { name: "HAProxy killed and started", kills: 1 }, async () => {
    await cluster.haproxy.kill();
    cluster.haproxy.start();
  });
});

test("a replica of the service is killed: the other one continues its runs", async () => {
  await cluster.whole();
  await underLoad([cluster, table], { name: "a replica of Runnel killed", kills: 1 }, ([doomed]) => doomed.kill());
});

test("asynchronous: each result that the new primary lacks is marked and reported", async () => {
  await cluster.configure({ synchronous_mode: false });
  const { primary } = await cluster.whole("replica");
  const databaseUrl = await cluster.makeDatabase();
  const members = await startReplicas(databaseUrl);
  const readers = await Promise.all(
    members.flatMap(({ client }) =>
      Array.from({ length: runsPerReplica }, async () => new LogReader((await startRun(client, longMessage)).runId)),
    ),
  );
  const [, survivor] = members;
  const reading = Promise.all(readers.map((reader) => readToTheEnd(reader, survivor)));
  const countRead = (): number => readers.reduce((sum, { results }) => sum + results.length, 0);
  await until("all readers to follow", () => readers.every(({ results }) => results.length >= 5));
  const gap = watchDelivery(countRead);

  const senders = await primary.query<{ pid: number }>("select pid from pg_stat_replication");
  expect(senders).toHaveLength(2);
  for (const { pid } of senders) {
    process.kill(pid, "SIGSTOP");
  }
  await delay(unsentMs);
  await primary.patroni.kill();
  primary.signal("SIGKILL");
  await untilAnotherLeads(cluster, primary, () => primary.patroni.start());

  await reading;
  const gapMs = gap.end();
  let lost = 0;
  for (const reader of readers) {
    const stored = await readLog(survivor.client, reader.runId);
    lost += stored.filter(({ payload }) => payload.case === "resultLost").length;
    expectSameWhereKept(reader.results, stored);
  }
  const reported = members.flatMap((member) => linesOf(member, "run.results_lost"));
  const sum = reported.reduce((count, line) => count + Number(line.acknowledged) - Number(line.found), 0);
  expect(sum).toBe(lost);
  expect(lost).toBeGreaterThan(0);
  await expectInvariants(databaseUrl);
  const counts = await tally(databaseUrl, readers);
  expect(counts).toMatchObject({ twice: 0, doubleEnds: 0 });
  // Readers had received some of them.
  expect(counts.lost).toBeGreaterThan(0);
  const name = "**asynchronous**, Postgres and Patroni killed with 0.5 s of WAL unsent";
  table.add({ ...counts, name, gapMs, kills: 2, lost });
  await Promise.all(members.map((member) => member.stop()));
});

interface Stoppable {
  signal(signal: NodeJS.Signals): void;
}

async function freezeForAWhile(parts: readonly Stoppable[]): Promise<void> {
  freeze(parts);
  await delay(awayMs);
  thaw(parts);
}

function freeze(parts: readonly Stoppable[]): void {
  for (const part of parts) {
    part.signal("SIGSTOP");
  }
}

function thaw(parts: readonly Stoppable[]): void {
  for (const part of parts) {
    part.signal("SIGCONT");
  }
}
