// The broadcaster: one buffer per watched run, shared by all its readers.

import { expect, test } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { LogEntry } from "../../src/engine/log/result.ts";
import type { Sink } from "../../src/platform/base/sink.ts";

function entries(first: number, last: number): LogEntry[] {
  return Array.from(
    { length: last - first + 1 },
    (_, index) => new LogEntry({ sequence: first + index, terminal: false }, new Uint8Array()),
  );
}

function sequencesOf(found: readonly LogEntry[] | undefined): number[] | undefined {
  return found?.map((entry) => entry.sequence);
}

test("a run without readers is not kept", () => {
  const broadcaster = new Broadcaster();
  broadcaster.publish("run", entries(1, 3));
  expect(broadcaster.heard("run")).toBeUndefined();
  using subscription = broadcaster.subscribe("run");
  expect(subscription.live(0)).toBeUndefined();
});

test("watchers are counted until the last one leaves", () => {
  const broadcaster = new Broadcaster();
  const [first, second, other] = [
    broadcaster.subscribe("run"),
    broadcaster.subscribe("run"),
    broadcaster.subscribe("other"),
  ];
  expect(broadcaster.readerCount).toBe(3);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(broadcaster.readerCount).toBe(2);
  expect(broadcaster.heard("run")).toBe(0);
  second[Symbol.dispose]();
  expect(broadcaster.heard("run")).toBeUndefined();
  other[Symbol.dispose]();
  expect(broadcaster.readerCount).toBe(0);
});

test("a subscription that is disposed twice does not end a later subscription of the same run", () => {
  const broadcaster = new Broadcaster();
  const early = broadcaster.subscribe("run");
  early[Symbol.dispose]();
  using late = broadcaster.subscribe("run");
  early[Symbol.dispose]();
  broadcaster.publish("run", entries(1, 1));
  expect(sequencesOf(late.live(0))).toEqual([1]);
});

test("the buffer keeps the newest entries; a reader further behind reads the log", () => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", entries(1, 1_000));
  const oldest = 1_000 - 256 + 1;
  expect(subscription.live(oldest - 2)).toBeUndefined();
  expect(sequencesOf(subscription.live(oldest - 1))?.length).toBe(256);
  expect(sequencesOf(subscription.live(998))).toEqual([999, 1_000]);
  expect(subscription.live(1_000)).toBeUndefined();
});

test("a gap empties the buffer, and known entries are dropped", () => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", entries(1, 3));
  broadcaster.publish("run", entries(2, 4));
  expect(sequencesOf(subscription.live(0))).toEqual([1, 2, 3, 4]);
  broadcaster.publish("run", entries(7, 8));
  expect(subscription.live(4)).toBeUndefined();
  expect(sequencesOf(subscription.live(6))).toEqual([7, 8]);
});

test("a reader that is behind does not wait; one in step waits for the next entry", async () => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", entries(1, 2));
  await subscription.beyond(1);
  let isOver = false;
  const waited = subscription.beyond(2).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  broadcaster.publish("run", entries(3, 3));
  await waited;
});

/** A sink that records the sequences it takes while `takes` returns true. */
function openSink(takes: () => boolean = () => true): { sink: Sink<readonly LogEntry[]>; taken: number[][] } {
  const taken: number[][] = [];
  const take = (found: readonly LogEntry[]): boolean => {
    const isTaken = takes();
    if (isTaken) {
      taken.push(found.map((entry) => entry.sequence));
    }
    return isTaken;
  };
  return { sink: { take, drained: async () => {} }, taken };
}

test("a reader in step passes new entries to its sink until it is woken, and then learns its position", async () => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  const { sink, taken } = openSink();
  const waited = subscription.beyond(0, sink);
  broadcaster.publish("run", entries(1, 1));
  broadcaster.publish("run", entries(1, 3));
  broadcaster.publish("run", entries(2, 3));
  expect(taken).toEqual([[1], [2, 3]]);
  subscription.wake();
  expect(await waited).toBe(3);
});

test("sinks of readers at the same position get the same array", () => {
  const broadcaster = new Broadcaster();
  using stack = new DisposableStack();
  const given: unknown[] = [];
  const sink = { take: (found: unknown) => given.push(found) > 0, drained: async () => {} };
  for (let reader = 0; reader < 3; reader += 1) {
    void stack.use(broadcaster.subscribe("run")).beyond(0, sink);
  }
  broadcaster.publish("run", entries(1, 2));
  expect(given).toHaveLength(3);
  expect(new Set(given).size).toBe(1);
});

test.each<[string, (broadcaster: Broadcaster) => void]>([
  ["a gap", (broadcaster) => broadcaster.publish("run", entries(4, 5))],
  ["more than a buffer holds", (broadcaster) => broadcaster.publish("run", entries(3, 300))],
  ["a run that was forgotten", (broadcaster) => [broadcaster.forget("run"), broadcaster.publish("run", entries(3, 3))]],
])("%s does not go to a sink: its reader is woken and reads for itself", async (_, happen) => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  const { sink, taken } = openSink();
  broadcaster.publish("run", entries(1, 2));
  const waited = subscription.beyond(2, sink);
  happen(broadcaster);
  expect(await waited).toBe(2);
  expect(taken).toEqual([]);
});

test.each<[string, () => boolean]>([
  ["refuses", () => false],
  [
    "fails",
    () => {
      throw new Error("no bytes for this");
    },
  ],
])("a sink that %s has taken nothing: its reader is woken, and all others get their entries", async (_, takes) => {
  const broadcaster = new Broadcaster();
  using broken = broadcaster.subscribe("run");
  using sound = broadcaster.subscribe("run");
  const { sink, taken } = openSink();
  const waited = broken.beyond(0, openSink(takes).sink);
  void sound.beyond(0, sink);
  broadcaster.publish("run", entries(1, 1));
  expect(await waited).toBe(0);
  expect(sequencesOf(broken.live(0))).toEqual([1]);
  expect(taken).toEqual([[1]]);
});
