// The queue of one run's results that are not yet in the log.

import { expect, test, vi } from "vitest";
import type { ChainEntry, LogChain } from "../../src/engine/hash-chain/chain.ts";
import { mergeAgeMaxMs } from "../../src/engine/log/merge.ts";
import { decodeResult } from "../../src/engine/log/result.ts";
import { RunQueue } from "../../src/engine/log/run-queue.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { newChain, text, turn } from "./store.ts";

/** More results than a queue takes before its driver waits. */
const farAhead = 300;

const entriesBefore = [1, 2, 3, 4, 5, 6, 7].map((sequence) => ({ sequence, bytes: Buffer.from("before") }));

/** Lets everything that is ready continue; one microtask would end before an async function has returned. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function openQueue(clock: ManualClock = createManualClock(), onLost: (fault: Fault) => void = () => {}): RunQueue {
  const chain = chainOf(entriesBefore);
  return new RunQueue({ runId: "run", epoch: 1, replicaId: "replica", chain, clock, onLost });
}

function chainOf(entries: readonly ChainEntry[]): LogChain {
  return newChain("run").with(entries);
}

test("sequences continue from the log and follow the order of writing", () => {
  const queue = openQueue();
  for (const number of [1, 2, 3]) {
    queue.push(turn(number));
  }
  const batch = queue.take(2);
  expect(batch.map((entry) => entry.sequence)).toEqual([8, 9]);
  expect(queue.waitingRows).toBe(1);
  queue.settle(batch);
  expect(queue.take(2).map((entry) => entry.sequence)).toEqual([10]);
});

test("an entry contains the run, sequence and time that it was given", () => {
  const queue = openQueue(createManualClock({ nowMs: 1_234 }));
  queue.push(turn(1));
  const [entry] = queue.take(1);
  const result = decodeResult(entry?.bytes ?? new Uint8Array());
  expect(result).toMatchObject({ runId: "run", sequence: 8n, createTime: { seconds: 1n, nanos: 234_000_000 } });
});

test("text merges only for a short time", () => {
  const clock = createManualClock();
  const queue = openQueue(clock);
  queue.push(text("a"));
  clock.advance(mergeAgeMaxMs);
  queue.push(text("b"));
  clock.advance(1);
  queue.push(text("c"));
  expect(queue.take(10)).toHaveLength(2);
});

test("text that comes after a batch was taken is not added to that batch", () => {
  const queue = openQueue();
  queue.push(text("a"));
  const batch = queue.take(10);
  queue.push(text("b"));
  queue.settle(batch);
  expect(queue.take(10).map((entry) => entry.sequence)).toEqual([9]);
});

test("a driver that is far ahead waits until a batch has settled", async () => {
  const queue = openQueue();
  for (let number = 0; number < farAhead; number++) {
    queue.push(turn(number));
  }
  let hasRoom = false;
  const room = queue.room()?.then(() => {
    hasRoom = true;
  });
  const batch = queue.take(farAhead);
  await nextTurn();
  expect(hasRoom).toBe(false);
  queue.settle(batch);
  await room;
});

test("a driver waits when few results hold much text", async () => {
  const queue = openQueue();
  const content = "x".repeat(600_000);
  for (let number = 0; number < 2; number++) {
    queue.push({ payload: { case: "messageDelta", value: { chunk: { role: "assistant", content } } } });
  }
  expect(queue.waitingRows).toBe(2);
  let hasRoom = false;
  const room = queue.room()?.then(() => {
    hasRoom = true;
  });
  await nextTurn();
  expect(hasRoom).toBe(false);
  queue.settle(queue.take(1));
  await room;
});

test("flush waits for results in flight, not only for waiting ones", async () => {
  const queue = openQueue();
  queue.push(turn(1));
  const batch = queue.take(1);
  let isFlushed = false;
  const flushed = queue.flush().then(() => {
    isFlushed = true;
  });
  await nextTurn();
  expect(isFlushed).toBe(false);
  queue.settle(batch);
  await flushed;
});

test("a batch that is durable in parts is flushed when all of it is durable", async () => {
  const queue = openQueue();
  for (const number of [1, 2, 3]) {
    queue.push(turn(number));
  }
  const batch = queue.take(3);
  let isFlushed = false;
  const flushed = queue.flush().then(() => {
    isFlushed = true;
  });
  queue.settle(batch.slice(0, 2));
  await nextTurn();
  expect(isFlushed).toBe(false);
  queue.settle(batch.slice(2));
  await flushed;
});

test("Q4: the chain covers durable results, and not those that wait or are in flight", () => {
  const queue = openQueue();
  for (const number of [1, 2, 3, 4]) {
    queue.push(turn(number));
  }
  const batch = queue.take(3);
  expect(queue.chain.count).toBe(7);
  queue.settle(batch.slice(0, 2));
  expect(queue.chain.count).toBe(9);
  expect(queue.chain.value).toEqual(chainOf([...entriesBefore, ...batch.slice(0, 2)]).value);
  queue.settle(batch.slice(2));
  expect(queue.chain.value).toEqual(chainOf([...entriesBefore, ...batch]).value);
});

test("Q4: a numbered result is in the chain only after its commit", () => {
  const queue = openQueue();
  const value = queue.chain.value;
  queue.number([turn(1), turn(2)]);
  queue.unnumber(2);
  expect(queue.chain.value).toEqual(value);
  const entries = queue.number([turn(3)]);
  queue.advance(queue.chain.with(entries));
  expect(queue.chain.value).toEqual(chainOf([...entriesBefore, ...entries]).value);
});

test("a lost queue reports the reason to all waiters, once, and takes nothing more", async () => {
  const onLost = vi.fn();
  const queue = openQueue(undefined, onLost);
  for (let number = 0; number < farAhead; number++) {
    queue.push(turn(number));
  }
  const waits = Promise.allSettled([queue.room(), queue.flush()]);
  queue.take(1);
  const fault = new Fault("RUN_LOST", "gone");
  queue.lose(fault);
  queue.lose(new Fault("LEASE_LOST", "gone again"));
  expect(await waits).toEqual([
    { status: "rejected", reason: fault },
    { status: "rejected", reason: fault },
  ]);
  expect(() => queue.push(turn(1))).toThrow(fault);
  await expect(queue.flush()).rejects.toBe(fault);
  expect(queue.waitingRows).toBe(0);
  expect(onLost.mock.calls).toEqual([[fault]]);
});

test("sequences of a transaction that did not commit are used again", () => {
  const queue = openQueue();
  expect(queue.number([turn(1), turn(2)]).map((entry) => entry.sequence)).toEqual([8, 9]);
  queue.unnumber(2);
  expect(queue.number([turn(1)]).map((entry) => entry.sequence)).toEqual([8]);
});
