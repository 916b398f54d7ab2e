// Cases of `npm run ha`: a fault on a cluster under load, and what it did to runs and readers, as a row of a table. The table
// ends with the sums.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, onTestFinished } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import type { Member } from "../fault/cluster.ts";
import { startLoad } from "../fault/database/load.ts";
import { startOn } from "../fault/database/service-on.ts";
import { until } from "../harness/wait.ts";
import type { Node, PatroniCluster } from "./patroni-cluster.ts";
import { type Tally, tally } from "./tally.ts";

export const runsPerReplica = 8;
/** Some 25 s of text: longer than a failover. */
export const longMessage = "words=1200 pace=20";
/** For faults without a failover. */
const shortMessage = "words=600 pace=20";
/** Less than any failover: delivery without a failover does not pause so long, also on a busy machine. */
export const failoverMs = 15_000;
const pollMs = 10;
const failoverMaxMs = 120_000;

/** What a deployment sets. */
const settings = parseEnv(readFileSync(join(repositoryRoot, "deploy/ha/runnel.env"), "utf8")) as Record<string, string>;

interface Row extends Tally {
  readonly name: string;
  /** The longest time without a new result at any reader. */
  readonly gapMs: number;
  /** Programs that were ended by SIGKILL. */
  readonly kills: number;
}

export class Table {
  readonly #rows: Row[] = [];

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** Returns rows of a Markdown table. */
  print(): string {
    const lines = this.#rows.map(({ name, gapMs, ...counts }) => [
      name,
      (gapMs / 1_000).toFixed(1),
      ...cellsOf(counts),
    ]);
    const sums = this.#rows.map(({ name, gapMs, ...counts }) => counts).reduce(add, none);
    const cells = [...lines, ["**sums**", "", ...cellsOf(sums)]];
    return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
  }
}

type Counts = Omit<Row, "name" | "gapMs">;

const none: Counts = { runs: 0, results: 0, kills: 0, lost: 0, twice: 0, doubleEnds: 0, restarts: 0 };

function cellsOf({ runs, results, kills, lost, twice, doubleEnds, restarts }: Counts): string[] {
  return [runs, results, kills, lost, twice, doubleEnds, restarts].map((count) => count.toLocaleString("en"));
}

function add(a: Counts, b: Counts): Counts {
  const names = Object.keys(a) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Counts;
}

export interface Case {
  readonly name: string;
  readonly message?: string;
  readonly kills?: number;
  /** Returns where a replica finds the database: its place and the database's address behind HAProxy. */
  readonly addressOf?: (databaseUrl: string) => Promise<string>;
}

/**
 * Runs the fault under load on two replicas with a new database, and expects that nothing was lost. Returns the longest time
 * without a new result, in milliseconds.
 */
export async function underLoad(
  [cluster, table]: readonly [PatroniCluster, Table],
  { name, message = shortMessage, kills = 0, addressOf = async (url) => url }: Case,
  fault: (members: readonly [Member, Member]) => Promise<void>,
): Promise<number> {
  const databaseUrl = await cluster.makeDatabase();
  const members = await startReplicas(databaseUrl, addressOf);
  const [, survivor] = members;
  const load = await startLoad(survivor, { runs: 2 * runsPerReplica, message, owners: members });
  await load.flows();
  const gap = watchDelivery(load.countRead);
  await fault(members);
  await load.expectNothingLost(databaseUrl);
  const gapMs = gap.end();
  const counts = await tally(databaseUrl, load.readers);
  table.add({ name, gapMs, kills, ...counts });
  expect(counts).toMatchObject({ lost: 0, twice: 0, doubleEnds: 0 });
  await Promise.all(members.map((member) => member.stop()));
  return gapMs;
}

export async function startReplicas(
  databaseUrl: string,
  addressOf: (url: string) => Promise<string> = async (url) => url,
): Promise<[Member, Member]> {
  const first = await startOn(await addressOf(databaseUrl), settings);
  const second = await startOn(await addressOf(databaseUrl), settings);
  return [first.member, second.member];
}

/** Resolves when another node is primary. `restore` starts what was killed of the old one. */
export async function untilAnotherLeads(cluster: PatroniCluster, old: Node, restore?: () => void): Promise<void> {
  await until("another primary", async () => (await cluster.findPrimary(old))?.name, failoverMaxMs);
  restore?.();
}

/** Measures the longest time without a new result. */
export function watchDelivery(countRead: () => number): { readonly end: () => number } {
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
