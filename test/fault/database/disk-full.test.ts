// The disk of the database is full: first nothing can be added, then Postgres itself goes down over it.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { startOn } from "./service-on.ts";
import { canMount, openSmallDisk } from "./small-disk.ts";

/** An empty cluster takes 50 MB, and its log of writes grows by pieces of 16. */
const diskBytes = 192 * 1_048_576;
const recoveredMaxMs = 30_000;
const diskTimeoutMs = 150_000;

// While the disk is full callers are told to come again, and runs wait with what they have. Then the piece of Postgres' own
// log that is at hand is used up, and it dies. With room again, and Postgres started again, everything goes on.
test.runIf(canMount())("a full disk loses nothing that was promised", { timeout: diskTimeoutMs }, async () => {
  const disk = openSmallDisk(diskBytes);
  const postgres = await openOwnPostgres(disk.folder);
  const { member, probes } = await startOn(postgres.url);
  const load = await startLoad(member, { runs: 8, message: "words=400 pace=40" });
  await load.flows();

  disk.fill();
  await until("calls to be refused", () => load.codes.has(status.UNAVAILABLE), recoveredMaxMs);
  await query(postgres.url, "select pg_switch_wal()").catch(() => {});
  await until("Postgres to die of it", () => !postgres.isRunning(), recoveredMaxMs);
  await probes.notReadySince(performance.now(), recoveredMaxMs);
  disk.empty();
  await postgres.start();
  const startedAtMs = performance.now();
  expect(await probes.readySince(startedAtMs, recoveredMaxMs)).toBeLessThan(recoveredMaxMs);

  await load.expectNothingLost(postgres.url);
  expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
  expect(probes.livenessMaxMs).toBeLessThan(recoveredMaxMs);
  expect(await member.stop()).toBe(0);
});
