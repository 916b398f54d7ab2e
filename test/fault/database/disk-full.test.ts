// The disk of the database is full: first nothing can be added, then Postgres itself fails.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { query } from "../../harness/database.ts";
import { canMount, openSmallDisk } from "../../harness/small-disk.ts";
import { until } from "../../harness/wait.ts";
import { linesOf, type Member } from "../cluster.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { offMaxMs, onMaxMs } from "./probe-watch.ts";
import { startOn } from "./service-on.ts";

/** An empty cluster takes 50 MB, and its write-ahead log grows in segments of 16 MB. */
const diskBytes = 192 * 1_048_576;
const diedMaxMs = 30_000;
/** A liveness probe never waits for the database; other tests share the machine. */
const livenessMaxMs = 5_000;
const diskTimeoutMs = 150_000;

// While the disk is full, calls get UNAVAILABLE, and runs wait with their unwritten results. With room again, everything
// continues by itself. When the disk is full once more, the current segment of the write-ahead log is used up, and Postgres
// dies. With room and Postgres started again, everything continues.
test.runIf(canMount())("a full disk loses nothing that was promised", { timeout: diskTimeoutMs }, async () => {
  const disk = openSmallDisk(diskBytes);
  const postgres = await openOwnPostgres(disk.folder);
  const { member, probes } = await startOn(postgres.url);
  const load = await startLoad(member, { runs: 8, message: "words=400 pace=40" });
  await load.flows();

  disk.fill();
  expect(await probes.notReadySince(await firstRefusal(member))).toBeLessThan(offMaxMs);
  await until("calls to be refused", () => load.codes.has(status.UNAVAILABLE), diedMaxMs);
  disk.empty();
  expect(await probes.readySince(performance.now())).toBeLessThan(onMaxMs);

  disk.fill();
  await query(postgres.url, "select pg_switch_wal()").catch(() => {});
  await until("Postgres to die of it", () => !postgres.isRunning(), diedMaxMs);
  await probes.notReadySince(performance.now());
  disk.empty();
  await postgres.start();
  const startedAtMs = performance.now();
  expect(await probes.readySince(startedAtMs)).toBeLessThan(onMaxMs);

  await load.expectNothingLost(postgres.url);
  expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
  expect(probes.outages).toHaveLength(2);
  expect(probes.livenessMaxMs).toBeLessThan(livenessMaxMs);
  expect(await member.stop()).toBe(0);
});

/** The time of the first refused write: until then the last pages of the tables still had some room. */
async function firstRefusal(member: Member): Promise<number> {
  const line = await until("a write to be refused", () =>
    linesOf(member, "database.troubled").find(({ error }) => String(error).includes("No space left")),
  );
  return Date.parse(String(line.time)) - performance.timeOrigin;
}
