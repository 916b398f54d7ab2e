// FairTurns: turns at a resource that only a few callers may use at the same time.

import { expect, test } from "vitest";
import { FairTurns } from "../../src/platform/auth/fair-turns.ts";

test("at most the maximum of jobs runs at once, and all jobs run", async () => {
  const turns = new FairTurns(2);
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 50 }, (_, index) =>
    turns.run(`key ${index % 7}`, async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return index;
    }),
  );
  expect(await Promise.all(jobs)).toEqual(jobs.map((_, index) => index));
  expect(most).toBe(2);
});

test("a waiting key gets its turn before another key gets its second one", async () => {
  const turns = new FairTurns(1);
  const order: string[] = [];
  const run = (key: string) => turns.run(key, async () => void order.push(key));
  await Promise.all([run("first"), ...Array.from({ length: 100 }, () => run("flood")), run("quiet")]);
  expect(order.indexOf("quiet")).toBe(2);
});

test("a failed job passes its turn on", async () => {
  const turns = new FairTurns(1);
  const failing = turns.run("a", () => Promise.reject(new Error("failed")));
  const after = turns.run("a", async () => "ran");
  await expect(failing).rejects.toThrow("failed");
  expect(await after).toBe("ran");
});
