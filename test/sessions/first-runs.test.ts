// Readers of a session that has no run yet.

import { expect, onTestFinished, test } from "vitest";
import { FirstRuns } from "../../src/engine/sessions/first-runs.ts";
import { findSession, type SessionRow } from "../../src/engine/storage/session.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { type CountedDb, countStatements } from "../runlog/counted-db.ts";
import { addSession, LocalWakeup, openStore } from "../runlog/store.ts";

const readers = 200;
const pollMs = 2_000;
const periods = 5;
const runId = "0190b7c2-7b7f-7000-8000-000000000000";

async function openSession() {
  const counted: CountedDb = countStatements((await openStore()).db);
  const clock = createManualClock();
  const wakeup = new LocalWakeup();
  const session = (await findSession(counted.db, {
    client: "shared/test",
    name: await addSession(counted.db),
  })) as SessionRow;
  const firstRuns = new FirstRuns({ db: counted.db, clock, wakeup });
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const waiting = Array.from({ length: readers }, () => firstRuns.of(session, leaving.signal));
  // A failure before the test awaits it must not be an unhandled rejection.
  const over = Promise.all(waiting);
  over.catch(() => {});
  await clock.slept(1);
  const update = (change: { latest_run_id: string } | { delete_time: Date }) =>
    counted.db.updateTable("session").set(change).where("id", "=", session.id).execute();
  return { counted, clock, wakeup, session, firstRuns, leaving, over, update };
}

test("200 readers of a session without a run cost as many statements as one", async () => {
  const { counted, clock, leaving, over } = await openSession();
  const before = counted.statements;
  for (let period = 0; period < periods; period++) {
    const sleeps = clock.delaysMs.length;
    clock.advance(pollMs);
    await clock.slept(sleeps + 1);
  }
  expect(counted.statements - before).toBe(periods);
  leaving.abort();
  expect(new Set(await over)).toEqual(new Set([undefined]));
  // No reader is left to poll for.
  clock.advance(pollMs);
  expect(counted.statements - before).toBe(periods);
});

test("all of them get the run, by the wake-up or, when that was lost, by the poll", async () => {
  for (const isLost of [false, true]) {
    const { clock, wakeup, session, over, update } = await openSession();
    await update({ latest_run_id: runId });
    wakeup.losing = isLost;
    wakeup.publish({ topic: "session", key: session.id, value: 0 });
    if (isLost) {
      clock.advance(pollMs);
    }
    expect(new Set(await over)).toEqual(new Set([runId]));
  }
});

test("all of them end when the session is deleted, and a later reader asks again", async () => {
  const { counted, clock, session, firstRuns, over, update } = await openSession();
  await update({ delete_time: new Date(0) });
  clock.advance(pollMs);
  expect(new Set(await over)).toEqual(new Set([null]));
  const before = counted.statements;
  expect(await firstRuns.of(session, new AbortController().signal)).toBeNull();
  expect(counted.statements - before).toBe(1);
});

test("a reader that leaves is released, and the others keep waiting", async () => {
  const { session, firstRuns, wakeup, over, update } = await openSession();
  const leaving = new AbortController();
  const one = firstRuns.of(session, leaving.signal);
  leaving.abort();
  expect(await one).toBeUndefined();
  expect(await firstRuns.of(session, AbortSignal.abort())).toBeUndefined();
  await update({ latest_run_id: runId });
  wakeup.publish({ topic: "session", key: session.id, value: 0 });
  await until("all of the others", async () => (await over).length === readers);
});
