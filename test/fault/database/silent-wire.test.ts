// The network to Postgres goes dead under open connections, without a signal to either side.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { query, testDatabase } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { openWire, wireToDatabase } from "../../harness/wire.ts";
import { metricsEnvironment, readFigures } from "./figures.ts";
import { startLoad } from "./load.ts";
import { startOn } from "./service-on.ts";

/** A statement is given up after 12 s, and so is its connection; then the next one gets through. */
const recoveredMaxMs = 30_000;
const silentTimeoutMs = 150_000;

// A connection that has swallowed one statement swallows every other one, until TCP gives up after a quarter of an hour.
// So it must not be used again, returned to its pool, or awaited when it is given up.
test("connections that fall silent are given up, and new ones replace them", {
  timeout: silentTimeoutMs,
}, async () => {
  const databaseUrl = await testDatabase();
  const { connectFar, urlAt } = wireToDatabase(databaseUrl);
  const wire = await openWire({ connectFar });
  const { member, probes } = await startOn(urlAt(wire), metricsEnvironment);
  const load = await startLoad(member, { runs: 8, message: "words=150 pace=60" });
  await load.flows();

  expect(wire.links.size).toBeGreaterThan(4);
  for (const link of wire.links) {
    link.silence();
  }
  await until("a second connection that listens", async () => (await countListeners(databaseUrl)) > 1, recoveredMaxMs);
  await until("it to be heard", async () => (await readFigures(member)).value("runnel_listen_connected") === 1);
  await probes.readySince(performance.now());

  await load.expectNothingLost(databaseUrl);
  expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
  expect(probes.livenessMaxMs).toBeLessThan(recoveredMaxMs);
  expect(await member.stop()).toBe(0);
});

/** Postgres keeps the silent connection too: it waits for the listener to send something. */
async function countListeners(databaseUrl: string): Promise<number> {
  const rows = await query(
    databaseUrl,
    "select 1 from pg_stat_activity where datname = current_database() and application_name = 'runnel listen'",
  );
  return rows.length;
}
