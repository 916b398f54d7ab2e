// Failovers of a real cluster: three nodes under Patroni, etcd, HAProxy, and two replicas of the service. Each byte that a reader
// received is compared with the log in the end. The table at the end is that of docs/operations/failover.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { linesOf, type Member, startRun } from "../fault/cluster.ts";
import { startLoad } from "../fault/database/load.ts";
import { expectSameWhereKept, readToTheEnd } from "../fault/database/lost-results.ts";
import { startOn } from "../fault/database/service-on.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { LogReader, readLog } from "../fault/log-reader.ts";
import { until } from "../harness/wait.ts";
import { type Node, openPatroniCluster, type PatroniCluster } from "./patroni-cluster.ts";

const runsPerReplica = 8;
/** Some 25 s of text: longer than a failover. */
const message = "words=1200 pace=20";
/** How long a frozen or cut part stays away: shorter than Patroni's ttl. */
const awayMs = 5_000;
/** What an asynchronous standby has not received. */
const unsentMs = 500;
const pollMs = 10;
const failoverMaxMs = 120_000;

/** What a deployment sets. */
const settings = parseEnv(readFileSync(join(repositoryRoot, "deploy/ha/runnel.env"), "utf8")) as Record<string, string>;

interface Row {
  readonly name: string;
  /** The longest time without a new result at any reader. */
  readonly gapMs: number;
  readonly read: number;
  readonly lost: number;
  readonly reported: number;
  readonly restarts: number;
}

const rows: Row[] = [];
let cluster: PatroniCluster;

beforeAll(async () => {
  cluster = await openPatroniCluster();
});

afterAll(async () => {
  process.stdout.write(`${formatRows()}\n`);
  await cluster[Symbol.asyncDispose]();
});

test("Postgres of the primary is killed", async () => {
  const { primary } = await cluster.whole();
  await underLoad("Postgres of the primary killed", async () => {
    primary.signal("SIGKILL");
    await untilAnotherLeads(primary);
  });
});

test("Postgres and Patroni of the primary are killed", async () => {
  const { primary } = await cluster.whole();
  await underLoad("Postgres and Patroni of the primary killed", async () => {
    await primary.patroni.kill();
    primary.signal("SIGKILL");
    await untilAnotherLeads(primary, () => primary.patroni.start());
  });
});

test("the primary is frozen until another one leads, and then continues as if it were still primary", async () => {
  const { primary } = await cluster.whole();
  await underLoad("the primary's machine frozen until another leads", async () => {
    const signal = (name: NodeJS.Signals): void => {
      process.kill(primary.patroni.pid, name);
      primary.signal(name);
    };
    signal("SIGSTOP");
    await untilAnotherLeads(primary, () => signal("SIGCONT"));
  });
});

test("a standby is frozen: the other one acknowledges commits", async () => {
  const { standbys } = await cluster.whole();
  const gapMs = await underLoad("one standby frozen for 5 s", () => freeze(standbys.slice(0, 1)));
  expect(gapMs).toBeLessThan(awayMs);
});

test("both standbys are frozen: commits wait for them", async () => {
  const { standbys } = await cluster.whole();
  const gapMs = await underLoad("both standbys frozen for 5 s", () => freeze(standbys));
  // A commit that was sent just before may still return.
  expect(gapMs).toBeGreaterThan(awayMs / 2);
});

test("etcd is away: the primary stays, because it reaches all nodes", async () => {
  await cluster.whole();
  await underLoad("etcd killed for 5 s", async () => {
    await cluster.etcd.kill();
    await delay(awayMs);
    cluster.etcd.start();
  });
});

test("HAProxy is restarted", async () => {
  await cluster.whole();
  await underLoad("HAProxy killed and started", async () => {
    await cluster.haproxy.kill();
    cluster.haproxy.start();
  });
});

test("a replica of the service is killed: the other one continues its runs", async () => {
  await cluster.whole();
  await underLoad("a replica killed", async ([doomed]) => {
    await doomed?.kill();
  });
});

test("asynchronous: each result that the new primary lacks is marked and reported", async () => {
  await cluster.configure({ synchronous_mode: false });
  const { primary } = await cluster.whole("replica");
  const members = await startReplicas();
  const readers = await Promise.all(
    members.flatMap(({ client }) =>
      Array.from({ length: runsPerReplica }, async () => new LogReader((await startRun(client, message)).runId)),
    ),
  );
  const survivor = members.at(-1) as Member;
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
  await untilAnotherLeads(primary, () => primary.patroni.start());

  await reading;
  const gapMs = gap.end();
  let lost = 0;
  let restarts = 0;
  for (const reader of readers) {
    const stored = await readLog(survivor.client, reader.runId);
    lost += stored.filter(({ payload }) => payload.case === "resultLost").length;
    restarts += stored.filter(({ payload }) => payload.case === "turnRestarted").length;
    expectSameWhereKept(reader.results, stored);
  }
  const reported = members.flatMap((member) => linesOf(member, "run.results_lost"));
  const sum = reported.reduce((count, line) => count + Number(line.acknowledged) - Number(line.found), 0);
  expect(sum).toBe(lost);
  expect(lost).toBeGreaterThan(0);
  await expectInvariants(cluster.url);
  const name = "asynchronous, Postgres and Patroni killed with 0.5 s of WAL unsent";
  rows.push({ name, gapMs, read: countRead(), lost, reported: sum, restarts });
  await Promise.all(members.map((member) => member.stop()));
});

/**
 * Runs the fault under load on two replicas, and expects that nothing was lost. Returns the longest time without a new result, in
 * milliseconds.
 */
async function underLoad(name: string, fault: (members: readonly Member[]) => Promise<void>): Promise<number> {
  const members = await startReplicas();
  const survivor = members.at(-1) as Member;
  const load = await startLoad(survivor, { runs: 2 * runsPerReplica, message, owners: members });
  await load.flows();
  const gap = watchDelivery(load.countRead);
  await fault(members);
  await load.expectNothingLost(cluster.url);
  const [gapMs, read, restarts] = [gap.end(), load.countRead(), load.countRestarts()];
  rows.push({ name, gapMs, read, lost: 0, reported: 0, restarts });
  await Promise.all(members.map((member) => member.stop()));
  return gapMs;
}

async function startReplicas(): Promise<Member[]> {
  const first = await startOn(cluster.url, settings);
  const second = await startOn(cluster.url, settings);
  return [first.member, second.member];
}

/** Resolves when another node is primary. `restore` starts what was killed of the old one. */
async function untilAnotherLeads(old: Node, restore?: () => void): Promise<void> {
  await until("another primary", async () => (await cluster.findPrimary(old))?.name, failoverMaxMs);
  restore?.();
}

/** As rows of a Markdown table. */
function formatRows(): string {
  const cells = rows.map(({ name, gapMs, ...counts }) => [name, (gapMs / 1_000).toFixed(1), ...Object.values(counts)]);
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

async function freeze(nodes: readonly Node[]): Promise<void> {
  for (const node of nodes) {
    node.signal("SIGSTOP");
  }
  await delay(awayMs);
  for (const node of nodes) {
    node.signal("SIGCONT");
  }
}

/** Measures the longest time without a new result. */
function watchDelivery(countRead: () => number): { readonly end: () => number } {
  let [count, sinceMs, longestMs] = [countRead(), performance.now(), 0];
  const timer = setInterval(() => {
    const now = countRead();
    if (now !== count) {
      count = now;
      sinceMs = performance.now();
    }
    longestMs = Math.max(longestMs, performance.now() - sinceMs);
  }, pollMs);
  const end = (): number => {
    clearInterval(timer);
    return longestMs;
  };
  onTestFinished(() => clearInterval(timer));
  return { end };
}
