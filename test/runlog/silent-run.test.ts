// How many statements readers cost while their run writes nothing.

import { expect, onTestFinished, test } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { tail } from "../../src/engine/log/tail.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { countStatements } from "./counted-db.ts";
import { addRun, LocalWakeup, openStore } from "./store.ts";

const readers = 200;
/** The interval at which the service looks for new results and for the end of the run. */
const periodMs = 15_000;
const periods = 4;

// Readers that start together would also poll together, and those without a connection would wait for the pool.
test("200 readers of a silent run cost as many statements as one", async () => {
  const store = await openStore();
  const { id: runId } = await addRun(store.db);
  const counted = countStatements(store.db);
  const clock = createManualClock();
  const source = { db: counted.db, broadcaster: new Broadcaster() };
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
  // Each reader looks once when it starts: for results, in a statement with others, and whether the run has ended.
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
