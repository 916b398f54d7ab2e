// The hub after a log was rewritten: readers get nothing from memory that the log no longer holds.

import { expect, test } from "vitest";
import { followPurges, Hub } from "../../src/engine/log/hub.ts";
import { LogEntry } from "../../src/engine/log/result.ts";
import { LocalWakeup } from "./store.ts";

function entry(sequence: number): LogEntry {
  return new LogEntry({ sequence, terminal: false }, new Uint8Array());
}

test("a forgotten run gets no new ring, and its readers still learn the newest sequence", () => {
  const hub = new Hub();
  using watch = hub.watch("run");
  hub.publish("run", [entry(1), entry(2)]);
  expect(watch.live(0)).toHaveLength(2);
  hub.forget("run");
  expect(watch.live(0)).toBeUndefined();
  // An entry that was read before the log was rewritten, and arrives late.
  hub.publish("run", [entry(3)]);
  expect(watch.live(2)).toBeUndefined();
  expect(watch.isBehind(2)).toBe(true);
  expect(hub.heard("run")).toBe(3);
});

test("a reader that comes after its run was forgotten also reads the log, because older reads may arrive late", () => {
  const hub = new Hub();
  hub.forget("run");
  using watch = hub.watch("run");
  hub.publish("run", [entry(1)]);
  expect(watch.live(0)).toBeUndefined();
  expect(watch.isBehind(0)).toBe(true);
});

test("the number of remembered forgotten runs is limited", () => {
  const hub = new Hub();
  for (let run = 0; run <= 10_000; run++) {
    hub.forget(`run ${run}`);
  }
  using first = hub.watch("run 0");
  using last = hub.watch("run 10000");
  hub.publish("run 0", [entry(1)]);
  hub.publish("run 10000", [entry(1)]);
  expect(first.live(0)).toHaveLength(1);
  expect(last.live(0)).toBeUndefined();
});

test("a purge on another replica arrives as results up to 0; other wake-ups forget nothing", () => {
  const hub = new Hub();
  const wakeup = new LocalWakeup();
  followPurges(hub, wakeup);
  using purged = hub.watch("purged");
  using other = hub.watch("other");
  hub.publish("purged", [entry(1)]);
  hub.publish("other", [entry(1)]);
  wakeup.publish({ topic: "result", key: "other", value: 1 });
  wakeup.publish({ topic: "result", key: "purged", value: 0 });
  expect(purged.live(0)).toBeUndefined();
  expect(other.live(0)).toHaveLength(1);
});

test("after a gap in the wake-ups, entries in memory are not used, and later ones are", () => {
  const hub = new Hub();
  const wakeup = new LocalWakeup();
  followPurges(hub, wakeup);
  using watch = hub.watch("run");
  hub.publish("run", [entry(1)]);
  wakeup.gap();
  expect(watch.live(0)).toBeUndefined();
  hub.publish("run", [entry(2)]);
  expect(watch.live(1)).toHaveLength(1);
});
