// The hub: one ring per watched run, shared by all its readers.

import { expect, test } from "vitest";
import { Hub } from "../../src/runlog/hub.ts";
import { LogEntry } from "../../src/runlog/result.ts";

function entries(first: number, last: number): LogEntry[] {
  return Array.from(
    { length: last - first + 1 },
    (_, index) => new LogEntry({ sequence: first + index, terminal: false }, new Uint8Array()),
  );
}

function sequencesOf(found: readonly LogEntry[] | undefined): number[] | undefined {
  return found?.map((entry) => entry.sequence);
}

test("a run that nobody watches is not kept", () => {
  const hub = new Hub();
  hub.publish("run", entries(1, 3));
  expect(hub.heard("run")).toBeUndefined();
  using watch = hub.watch("run");
  expect(watch.live(0)).toBeUndefined();
});

test("watchers are counted until the last one has left", () => {
  const hub = new Hub();
  const [first, second, other] = [hub.watch("run"), hub.watch("run"), hub.watch("other")];
  expect(hub.watcherCount).toBe(3);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(hub.watcherCount).toBe(2);
  expect(hub.heard("run")).toBe(0);
  second[Symbol.dispose]();
  expect(hub.heard("run")).toBeUndefined();
  other[Symbol.dispose]();
  expect(hub.watcherCount).toBe(0);
});

test("a watch that ends late does not end the one that came after it", () => {
  const hub = new Hub();
  const early = hub.watch("run");
  early[Symbol.dispose]();
  using late = hub.watch("run");
  early[Symbol.dispose]();
  hub.publish("run", entries(1, 1));
  expect(sequencesOf(late.live(0))).toEqual([1]);
});

test("the ring keeps the newest entries; who is further behind reads the log", () => {
  const hub = new Hub();
  using watch = hub.watch("run");
  hub.publish("run", entries(1, 1_000));
  const oldest = 1_000 - 256 + 1;
  expect(watch.live(oldest - 2)).toBeUndefined();
  expect(sequencesOf(watch.live(oldest - 1))?.length).toBe(256);
  expect(sequencesOf(watch.live(998))).toEqual([999, 1_000]);
  expect(watch.live(1_000)).toBeUndefined();
});

test("a gap empties the ring, and what is known is dropped", () => {
  const hub = new Hub();
  using watch = hub.watch("run");
  hub.publish("run", entries(1, 3));
  hub.publish("run", entries(2, 4));
  expect(sequencesOf(watch.live(0))).toEqual([1, 2, 3, 4]);
  hub.publish("run", entries(7, 8));
  expect(watch.live(4)).toBeUndefined();
  expect(sequencesOf(watch.live(6))).toEqual([7, 8]);
});

test("a reader behind what is known does not wait; one in step waits for the next entry", async () => {
  const hub = new Hub();
  using watch = hub.watch("run");
  hub.publish("run", entries(1, 2));
  await watch.beyond(1);
  let isOver = false;
  const waited = watch.beyond(2).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  hub.publish("run", entries(3, 3));
  await waited;
});
