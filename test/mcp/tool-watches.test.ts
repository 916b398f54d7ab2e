// The watches of the lists of tools: how many looks streams cost.

import { expect, test } from "vitest";
import { ToolWatches } from "../../src/surfaces/mcp/tool-watches.ts";
import { createManualClock } from "../harness/manual-clock.ts";

/** Streams of clients, and lists that the test changes. */
function setStage() {
  const clock = createManualClock();
  const watches = new ToolWatches(clock);
  const told: string[] = [];
  const stage = {
    ...{ clock, told, list: "[]", reads: 0, failing: new Set<string>() },
    open: (client: string, name: string) =>
      watches.add(client, {
        read: async () => {
          stage.reads += 1;
          if (stage.failing.has(name)) {
            throw new Error("the key has expired");
          }
          return stage.list;
        },
        changed: async () => void told.push(name),
        failed: (error) => told.push(`${name}: ${error}`),
      }),
    /** Lets one look happen. */
    look: async (count: number) => {
      await clock.slept(count);
      clock.advance(2_000);
      await clock.slept(count + 1);
    },
  };
  return stage;
}

test("one look serves all streams of a client, and none happens without streams", async () => {
  const stage = setStage();
  const streams = [await stage.open("app", "one"), await stage.open("app", "two"), await stage.open("app", "three")];
  expect(stage.reads).toBe(1);
  await stage.look(1);
  stage.list = "[1]";
  await stage.look(2);
  expect([stage.reads, stage.told]).toEqual([3, ["one", "two", "three"]]);
  for (const stream of streams) {
    stream[Symbol.dispose]();
  }
  stage.clock.advance(60_000);
  expect([stage.reads, stage.clock.delaysMs.length]).toEqual([3, 3]);
  using _again = await stage.open("app", "four");
  expect(stage.reads).toBe(4);
});

test("clients are watched apart, and a stream whose look fails leaves the others theirs", async () => {
  const stage = setStage();
  using _other = await stage.open("other", "other");
  await stage.clock.slept(1);
  using _one = await stage.open("app", "one");
  using _two = await stage.open("app", "two");
  expect(stage.reads).toBe(2);
  stage.failing.add("one");
  await stage.clock.slept(2);
  stage.clock.advance(2_000);
  await stage.clock.slept(4);
  expect(stage.told).toEqual(["one: Error: the key has expired"]);
  stage.list = "[1]";
  stage.clock.advance(2_000);
  await stage.clock.slept(6);
  expect(stage.told.slice(1).toSorted()).toEqual(["other", "two"]);
});

test("a stream that cannot read the list at first is refused, and the next one begins anew", async () => {
  const stage = setStage();
  stage.failing.add("one");
  await expect(stage.open("app", "one")).rejects.toThrow("the key has expired");
  using _two = await stage.open("app", "two");
  expect(stage.reads).toBe(2);
});
