// What a transaction leaves for the time after its end.

import { expect, test } from "vitest";
import { markSessionDeleted } from "../../src/engine/storage/session.ts";
import { inTransaction, whenEnded } from "../../src/platform/database/in-transaction.ts";
import { addSession, openStore } from "../runlog/store.ts";

test("the work that a transaction leaves runs after its commit, in order", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  const order: string[] = [];
  const answer = await inTransaction(db, async (trx) => {
    whenEnded(trx, (isCommitted) => order.push(`first ${isCommitted}`));
    await markSessionDeleted(trx, session);
    whenEnded(trx, (isCommitted) => order.push(`second ${isCommitted}`));
    order.push("written");
    return "answer";
  });
  expect([answer, ...order]).toEqual(["answer", "written", "first true", "second true"]);
});

test("the work that a failed transaction leaves knows that nothing was committed", async () => {
  const { db } = await openStore();
  const session = await addSession(db);
  const ends: boolean[] = [];
  const fail = inTransaction(db, async (trx) => {
    whenEnded(trx, (isCommitted) => ends.push(isCommitted));
    await markSessionDeleted(trx, session);
    throw new Error("refused");
  });
  await expect(fail).rejects.toThrow("refused");
  const { delete_time } = await db.selectFrom("session").select("delete_time").executeTakeFirstOrThrow();
  expect([delete_time, ...ends]).toEqual([null, false]);
});

test("a transaction that cannot run what it leaves takes nothing", async () => {
  const { db } = await openStore();
  const plain = db.transaction().execute(async (trx) => whenEnded(trx, () => {}));
  await expect(plain).rejects.toThrow("was not begun by inTransaction");
});
