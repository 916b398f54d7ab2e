// Partitions of a real cluster: the paths between a replica and HAProxy, between the nodes of Postgres, and between a node and etcd
// are cut, delayed and half-opened under load. Each byte that a reader received is compared with the log in the end. The table
// at the end is that of docs/operations/failover.md.

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openPath, type Path, type PathFault } from "../harness/path.ts";
import { failoverMs, longMessage, Table, underLoad, untilAnotherLeads } from "./cases.ts";
import { openPatroniCluster, type PatroniCluster } from "./patroni-cluster.ts";

/** How long a path stays broken. */
const awayMs = 5_000;
/** Longer than Patroni's ttl: the lock of a primary that cannot renew it has expired. */
const lockOutlivedMs = 25_000;

const faults: readonly (readonly [string, PathFault])[] = [
  ["cut", "cut"],
  ["delayed by 0.1 s", 100],
  ["half-open", "halfOpen"],
];

const table = new Table();
let cluster: PatroniCluster;

beforeAll(async () => {
  cluster = await openPatroniCluster();
});

afterAll(async () => {
  process.stdout.write(`${table.print()}\n`);
  await cluster[Symbol.asyncDispose]();
});

test.each(faults)("the path from a replica to HAProxy is %s", async (words, fault) => {
  await cluster.whole();
  const paths: Path[] = [];
  const addressOf = async (databaseUrl: string): Promise<string> => {
    const url = new URL(databaseUrl);
    const path = await openPath([Number(url.port)]);
    onTestFinished(path.close);
    paths.push(path);
    url.port = String(path.ports[0]);
    return url.href;
  };
  const name = `replica and HAProxy ${words} for 5 s`;
  // The second replica has all readers.
  const gapMs = await underLoad([cluster, table], { name, addressOf }, () => breakForAWhile(paths.slice(1), fault));
  if (typeof fault === "string") {
    expect(gapMs).toBeGreaterThan(awayMs / 2);
  }
});

test.each(faults)("the path from the standbys to the primary is %s", async (words, fault) => {
  const { primary } = await cluster.whole();
  const name = `primary and both standbys ${words} for 5 s`;
  const gapMs = await underLoad([cluster, table], { name }, () => breakForAWhile([primary.toPostgres], fault));
  if (typeof fault === "string") {
    // Commits wait for the standbys.
    expect(gapMs).toBeGreaterThan(awayMs / 2);
  }
});

test("the path from one standby to the primary is half-open: the other one acknowledges commits", async () => {
  const { primary } = await cluster.whole();
  const [sender] = await primary.query<{ port: number }>("select client_port as port from pg_stat_replication");
  const gapMs = await underLoad([cluster, table], { name: "primary and one standby half-open for 5 s" }, () =>
    breakForAWhile([primary.toPostgres], "halfOpen", sender?.port),
  );
  expect(gapMs).toBeLessThan(awayMs);
});

test.each(faults)(
  "the path from the primary to etcd is %s: it stays, because it reaches all nodes",
  async (words, fault) => {
    const { primary } = await cluster.whole();
    const name = `primary and etcd ${words} for 25 s`;
    const gapMs = await underLoad([cluster, table], { name, message: longMessage }, async () => {
      primary.toEtcd.break(fault);
      await delay(lockOutlivedMs);
      expect(await cluster.findPrimary()).toBe(primary);
      primary.toEtcd.mend();
    });
    expect(gapMs).toBeLessThan(failoverMs);
  },
);

test.each([
  ["cut", "cut"],
  ["half-open", "halfOpen"],
] as const)(
  "all paths of the primary but that of HAProxy are %s: it demotes itself, and another one leads",
  async (words, fault) => {
    const { primary } = await cluster.whole();
    const name = `primary ${words} from etcd and the other nodes until another leads`;
    await underLoad([cluster, table], { name, message: longMessage }, async () => {
      onTestFinished(() => cluster.refuseFailsafe(false));
      cluster.refuseFailsafe(true);
      const paths = [primary.toEtcd, primary.toPatroni, primary.toPostgres];
      breakAll(paths, fault);
      await untilAnotherLeads(cluster, primary);
      expect(await cluster.isPrimary(primary)).toBe(false);
      cluster.refuseFailsafe(false);
      mendAll(paths);
    });
  },
);

async function breakForAWhile(paths: readonly Path[], fault: PathFault, clientPort?: number): Promise<void> {
  breakAll(paths, fault, clientPort);
  await delay(awayMs);
  mendAll(paths);
}

function breakAll(paths: readonly Path[], fault: PathFault, clientPort?: number): void {
  for (const path of paths) {
    path.break(fault, clientPort);
  }
}

function mendAll(paths: readonly Path[]): void {
  for (const path of paths) {
    path.mend();
  }
}
