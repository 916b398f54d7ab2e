// A result of another replica first becomes known here through a reader: it finds the result in the log, or it resumes behind
// it after reading elsewhere. The follower then takes the result for known and does not fetch it, so the waiting readers must
// learn of it from the broadcaster.

import { expect, onTestFinished, test } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { encodeResult, type LogEntry } from "../../src/engine/log/result.ts";
import { type TailSource, tail } from "../../src/engine/log/tail.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { addRun, LocalWakeup, openStore, turn } from "../runlog/store.ts";

test.each([
  ["finds it in the log", 0],
  ["has it already", 2],
])("a waiting reader still gets a result when a late reader %s", async (_, after) => {
  const { db } = await openStore();
  const source = { db, broadcaster: new Broadcaster(), clock: createManualClock() };
  const wakeup = new LocalWakeup();
  const follower = new Follower({ ...source, wakeup, onError: () => {} });
  onTestFinished(() => follower.close());
  const { id: runId } = await addRun(db);
  const early = openReader(source, runId, 0);
  source.broadcaster.publish(runId, [await write(1)]);
  await until("the first result", () => early.length === 1);

  await write(2);
  openReader(source, runId, after);
  await until("the late reader", () => source.broadcaster.heard(runId) === 2);
  wakeup.publish({ topic: "result", key: runId, value: 2 });
  await until("the reader that came first", () => early.length === 2);
  expect(early).toEqual([1, 2]);

  async function write(sequence: number): Promise<LogEntry> {
    const entry = encodeResult(turn(sequence), { runId, sequence, timeMs: 0 });
    const row = { runId, sequence, epoch: 1, payload: entry.bytes };
    await db.transaction().execute((trx) => insertResults(trx, [row]));
    return entry;
  }
});

/** The sequences that a reader has got so far. The reader closes with the test. */
function openReader(source: TailSource, runId: string, after: number): readonly number[] {
  const got: number[] = [];
  const leaving = new AbortController();
  const reading = (async () => {
    for await (const entries of tail(source, { runId, after, signal: leaving.signal })) {
      got.push(...entries.map((entry) => entry.sequence));
    }
  })();
  onTestFinished(async () => {
    leaving.abort();
    await reading;
  });
  return got;
}
