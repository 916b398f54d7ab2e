// What readers cost the database while their run says nothing.

import { expect, onTestFinished, test } from "vitest";
import { Follower } from "../../src/engine/log/follower.ts";
import { Hub } from "../../src/engine/log/hub.ts";
import { tail } from "../../src/engine/log/tail.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { countStatements } from "./counted-db.ts";
import { addRun, LocalWakeup, openStore } from "./store.ts";

const readers = 200;
/** After that long somebody looks for results, and whether the run has ended. */
const periodMs = 15_000;
const periods = 4;

// Readers that come together would also look together, and as many as the pool has no connections for would wait for it.
test("200 readers of a silent run cost as many statements as one", async () => {
  const store = await openStore();
  const { id: runId } = await addRun(store.db);
  const counted = countStatements(store.db);
  const clock = createManualClock();
  const source = { db: counted.db, hub: new Hub() };
  const errors: unknown[] = [];
  const follower = new Follower({
    ...source,
    wakeup: new LocalWakeup(),
    clock,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => follower.close());

  const leaving = new AbortController();
  const reading = Array.from({ length: readers }, async () => {
    for await (const entries of tail(source, { runId, after: 0, signal: leaving.signal })) {
      expect(entries).toEqual([]);
    }
  });
  // Each looks once when it comes: for results, in a statement with others, and then whether there will be any.
  await until("all readers to wait", () => counted.built === readers);
  const first = counted.statements;
  expect(first).toBeLessThan(1.5 * readers);

  for (let period = 0; period < periods; period++) {
    const sleeps = clock.delaysMs.length;
    clock.advance(periodMs);
    await clock.slept(sleeps + 2);
  }
  await follower.close();
  const looks = counted.statements - first;
  expect(looks).toBeGreaterThanOrEqual(periods);
  expect(looks).toBeLessThanOrEqual(2 * periods);
  expect(errors).toEqual([]);

  leaving.abort();
  await Promise.all(reading);
});
