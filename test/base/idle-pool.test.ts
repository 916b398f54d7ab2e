// Values that users share, and that are closed when nothing has used them for a while.

import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { IdlePool } from "../../src/platform/base/idle-pool.ts";
import { createManualClock } from "../harness/manual-clock.ts";

interface Value {
  readonly id: number;
  isOpen: boolean;
}

function open() {
  const clock = createManualClock();
  const closed: number[] = [];
  let count = 0;
  const pool = new IdlePool<Value>({
    ...{ clock, idleMs: 100, isOpen: ({ isOpen }) => isOpen },
    close: async ({ id }) => void closed.push(id),
  });
  const lease = (key = "a") =>
    pool.lease(key, async () => {
      await setImmediate();
      count += 1;
      return { id: count, isOpen: true };
    });
  const pass = async (byMs: number) => {
    clock.advance(byMs);
    await setImmediate();
  };
  return { pool, lease, pass, closed };
}

test("users of a key at one time share a value, and another key has its own", async () => {
  const { lease } = open();
  const leases = await Promise.all([lease(), lease(), lease("b")]);
  expect(leases.map(({ value }) => value.id)).toEqual([1, 1, 2]);
});

test("a value is closed when nothing has used it for the idle time, and not before", async () => {
  const { pool, lease, pass, closed } = open();
  const [first, second] = [await lease(), await lease()];
  first.release();
  first.release();
  await pass(500);
  expect(closed).toEqual([]);
  second.release();
  await pass(99);
  const third = await lease();
  await pass(500);
  expect(closed).toEqual([]);
  third.release();
  await pass(99);
  expect(closed).toEqual([]);
  await pass(1);
  expect(closed).toEqual([1]);
  expect(pool.size).toBe(0);
  expect((await lease()).value.id).toBe(2);
});

test("the next user of a value that broke opens another one, once", async () => {
  const { lease } = open();
  const { value } = await lease();
  value.isOpen = false;
  const leases = await Promise.all([lease(), lease()]);
  expect(leases.map((each) => each.value.id)).toEqual([2, 2]);
});

test("an attempt that fails leaves the key free", async () => {
  const { pool, lease } = open();
  await expect(pool.lease("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect((await lease()).value.id).toBe(1);
});

test("the end of the pool closes what is in use, too", async () => {
  const { pool, lease, closed } = open();
  await lease();
  (await lease("b")).release();
  await pool.close();
  expect(closed.toSorted()).toEqual([1, 2]);
});
