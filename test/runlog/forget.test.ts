// The broadcaster after a log was rewritten: readers get nothing from memory that the log no longer holds.

import { expect, test } from "vitest";
import { Broadcaster, followPurges } from "../../src/engine/log/broadcaster.ts";
import { LogEntry } from "../../src/engine/log/result.ts";
import { LocalWakeup } from "./store.ts";

function entry(sequence: number): LogEntry {
  return new LogEntry({ sequence, terminal: false }, new Uint8Array());
}

test("a forgotten run gets no new buffer, and its readers still learn the newest sequence", () => {
  const broadcaster = new Broadcaster();
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", [entry(1), entry(2)]);
  expect(subscription.live(0)).toHaveLength(2);
  broadcaster.forget("run");
  expect(subscription.live(0)).toBeUndefined();
  // An entry that was read before the log was rewritten, and arrives late.
  broadcaster.publish("run", [entry(3)]);
  expect(subscription.live(2)).toBeUndefined();
  expect(subscription.isBehind(2)).toBe(true);
  expect(broadcaster.heard("run")).toBe(3);
});

test("a reader that comes after its run was forgotten also reads the log, because older reads may arrive late", () => {
  const broadcaster = new Broadcaster();
  broadcaster.forget("run");
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", [entry(1)]);
  expect(subscription.live(0)).toBeUndefined();
  expect(subscription.isBehind(0)).toBe(true);
});

test("the number of remembered forgotten runs is limited", () => {
  const broadcaster = new Broadcaster();
  for (let run = 0; run <= 10_000; run++) {
    broadcaster.forget(`run ${run}`);
  }
  using first = broadcaster.subscribe("run 0");
  using last = broadcaster.subscribe("run 10000");
  broadcaster.publish("run 0", [entry(1)]);
  broadcaster.publish("run 10000", [entry(1)]);
  expect(first.live(0)).toHaveLength(1);
  expect(last.live(0)).toBeUndefined();
});

test("a purge on another replica arrives as results up to 0; other wake-ups forget nothing", () => {
  const broadcaster = new Broadcaster();
  const wakeup = new LocalWakeup();
  followPurges(broadcaster, wakeup);
  using purged = broadcaster.subscribe("purged");
  using other = broadcaster.subscribe("other");
  broadcaster.publish("purged", [entry(1)]);
  broadcaster.publish("other", [entry(1)]);
  wakeup.publish({ topic: "result", key: "other", value: 1 });
  wakeup.publish({ topic: "result", key: "purged", value: 0 });
  expect(purged.live(0)).toBeUndefined();
  expect(other.live(0)).toHaveLength(1);
});

test("after a gap in the wake-ups, entries in memory are not used, and later ones are", () => {
  const broadcaster = new Broadcaster();
  const wakeup = new LocalWakeup();
  followPurges(broadcaster, wakeup);
  using subscription = broadcaster.subscribe("run");
  broadcaster.publish("run", [entry(1)]);
  wakeup.gap();
  expect(subscription.live(0)).toBeUndefined();
  broadcaster.publish("run", [entry(2)]);
  expect(subscription.live(1)).toHaveLength(1);
});
