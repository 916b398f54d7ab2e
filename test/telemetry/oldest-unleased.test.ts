// How long the run that waits longest has had no owner, according to the database.

import { expect } from "vitest";
import { finishRun, oldestUnleasedMs } from "../../src/engine/storage/run.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { test } from "../fixtures.ts";
import { addReplica, addRun, nothingSpent, openStore } from "../runlog/store.ts";

const minuteMs = 60_000;

test("a queued run counts from its due time, and without such a run the value is 0", async ({ store: { db } }) => {
  expect(await oldestUnleasedMs(db)).toBe(0);
  await setRun(db, await addQueued(db), { wake_at: minutesAgo(-1) });
  expect(await oldestUnleasedMs(db)).toBe(0);
  await setRun(db, await addQueued(db), { wake_at: minutesAgo(2) });
  await setRun(db, await addQueued(db), { wake_at: minutesAgo(5) });
  expectMinutes(await oldestUnleasedMs(db), 5);
});

test("a run of a silent replica counts from the end of the lease, and from its own start when the replica is unknown", async () => {
  const { db } = await openStore();
  const owner = await addReplica(db);
  const { id } = await addRun(db, { owner });
  await setRun(db, id, { start_time: minutesAgo(9) });
  expect(await oldestUnleasedMs(db)).toBe(0);
  await db
    .updateTable("replica")
    .set({ lease_until: minutesAgo(3) })
    .where("id", "=", owner)
    .execute();
  expectMinutes(await oldestUnleasedMs(db), 3);
  await db.deleteFrom("replica").where("id", "=", owner).execute();
  expectMinutes(await oldestUnleasedMs(db), 9);
});

test("waiting runs and ended runs do not count", async ({ store: { db } }) => {
  await setRun(db, await addQueued(db), { status: "waiting", wake_at: minutesAgo(5) });
  const over = await addQueued(db);
  const terminal = new Uint8Array();
  await db.transaction().execute((trx) =>
    finishRun(trx, {
      id: over,
      status: "failed",
      turn: 1,
      sequence: 1,
      terminal,
      logHash: undefined,
      spent: nothingSpent,
      failure: undefined,
    }),
  );
  expect(await oldestUnleasedMs(db)).toBe(0);
});

async function addQueued(db: Db): Promise<string> {
  return (await addRun(db)).id;
}

async function setRun(
  db: Db,
  id: string,
  values: { readonly wake_at?: Date; readonly start_time?: Date; readonly status?: "waiting" },
): Promise<void> {
  await db.updateTable("run").set(values).where("id", "=", id).execute();
}

function minutesAgo(minutes: number): Date {
  return new Date(Date.now() - minutes * minuteMs);
}

function expectMinutes(ageMs: number, minutes: number): void {
  expect(ageMs).toBeGreaterThan(minutes * minuteMs - 1_000);
  expect(ageMs).toBeLessThan((minutes + 1) * minuteMs);
}
