// Run rows: finding and disowning strays, and waking those that wait.

import { expect, test } from "vitest";
import { disownRun, findRun, listStrays, wakeDueRuns } from "../../src/engine/storage/run.ts";
import { createFindDue } from "../../src/engine/storage/run-due.ts";
import { addReplica, addRun, openStore } from "../runlog/store.ts";

test("a replica disowns its old runs that it does not work on, and no others", async () => {
  const { db } = await openStore();
  const [owner, other] = [await addReplica(db), await addReplica(db)];
  const [stray, worked, foreign] = [
    await addRun(db, { owner }),
    await addRun(db, { owner }),
    await addRun(db, { owner: other }),
  ];
  await db
    .updateTable("run")
    .set({ start_time: new Date(0) })
    .execute();
  const fresh = await addRun(db, { owner });
  expect(await listStrays(db, { owner, except: [worked.id], startedBeforeMs: 15_000 })).toEqual([stray.id]);
  expect(await disownRun(db, { id: stray.id, owner })).toBe(true);
  expect((await findRun(db, stray.id))?.status).toBe("running");
  for (const { id, owner: before } of [worked, foreign, fresh]) {
    expect((await findRun(db, id))?.owner).toBe(before);
  }
  expect(await disownRun(db, { id: foreign.id, owner })).toBe(false);
  expect(await listStrays(db, { owner, except: [], startedBeforeMs: 15_000 })).toEqual([worked.id]);
});

test("only waiting runs whose time has come are woken", async () => {
  const { db } = await openStore();
  const [due, later, queued] = [await addRun(db), await addRun(db), await addRun(db)];
  const wait = (id: string, wakeAt: Date) =>
    db.updateTable("run").set({ status: "waiting", wake_at: wakeAt, wait_reason: "x" }).where("id", "=", id).execute();
  await wait(due.id, new Date(0));
  await wait(later.id, new Date(Date.now() + 3_600_000));
  expect((await createFindDue(db, { marginMs: 0 })()).wakesInMs).toBeLessThan(0);
  expect(await wakeDueRuns(db)).toBe(1);
  expect((await createFindDue(db, { marginMs: 0 })()).wakesInMs).toBeGreaterThan(3_000_000);
  expect(await findRun(db, due.id)).toMatchObject({ status: "queued", wait_reason: null });
  expect((await findRun(db, later.id))?.status).toBe("waiting");
  expect((await findRun(db, queued.id))?.status).toBe("queued");
});
