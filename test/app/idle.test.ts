// A service without work sleeps: each statement and each timer of an idle process costs CPU on every machine that runs one.

import { setImmediate as turn } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../src/platform/base/clock.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

const stepMs = 50;
const spanSec = 120;

/**
 * In a second: 1 look of the reaper for due work of every kind, and on each half second a check of the database or, two of three seconds, a
 * renewal of the lease in its place. In 5 s: a wake-up to itself, and a look for strays. The rest is maintenance, once a minute. Another
 * loop that asks every 5 s fails the test.
 */
const statementsPerSecMax = 3.8;
/** The pauses of these, and a limit for each check. */
const timersPerSecMax = 6.5;
/** The timers that wake the process alone: all others end together, on a half second. */
const lonelyPerSecMax = 0.3;

test("a service without work sends few statements and sets few timers", async () => {
  const statements = countStatements();
  const clock = createManualClock();
  const endsMs: number[] = [];
  const sleep: Clock["sleep"] = (delayMs, signal) => {
    endsMs.push(clock.monotonicMs() + delayMs);
    return clock.sleep(delayMs, signal);
  };
  const service = await startService({}, { clock: { ...clock, nowMs: () => Date.now(), sleep } });
  onTestFinished(async () => {
    let isClosed = false;
    void service.close().then(() => {
      isClosed = true;
    });
    await until("the service to close", () => {
      clock.advance(stepMs);
      return isClosed;
    });
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += stepMs) {
      clock.advance(stepMs);
      await statements.answered();
    }
  };
  // What a start does once. A connection opens in its own time, also under load.
  await until("the connections that listen", () => statements.texts.includes('listen "runnel_beat"'));
  await pass(10);
  const before = { sent: statements.texts.length, set: clock.delaysMs.length };
  await pass(spanSec);
  const sent = statements.texts.slice(before.sent);
  const set = clock.delaysMs.slice(before.set);
  const lonely = endsMs.slice(before.set).filter((endMs) => endMs % 500 !== 0);
  expect(sent.length / spanSec, tally(sent)).toBeLessThan(statementsPerSecMax);
  expect(set.length / spanSec, tally(set)).toBeLessThan(timersPerSecMax);
  expect(lonely.length / spanSec, tally(set)).toBeLessThan(lonelyPerSecMax);
  // The measure measures: without these a dead service would pass.
  expect(sent.length).toBeGreaterThan(spanSec);
});

/** Counts the statements of all connections that this process opens until the test ends. */
function countStatements() {
  const texts: string[] = [];
  let open = 0;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...asked: Parameters<typeof query>) {
    const [first] = asked as unknown[];
    texts.push(typeof first === "string" ? first : (first as { text: string }).text);
    const answer: unknown = query.apply(this, asked);
    if (answer instanceof Promise) {
      open += 1;
      const close = (): void => {
        open -= 1;
      };
      answer.then(close, close);
    }
    return answer;
  } as typeof query;
  onTestFinished(() => {
    pg.Client.prototype.query = query;
  });
  const answered = async (): Promise<void> => {
    // An answer leads to the next statement within a few turns.
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await turn();
      quiet = open === 0 ? quiet : 0;
    }
  };
  return { texts, answered };
}

function tally(values: readonly unknown[]): string {
  const counts = Map.groupBy(values, (value) => String(value).replaceAll(/\s+/g, " ").slice(0, 70));
  return [...counts]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([value, { length }]) => `${length} × ${value}`)
    .join("\n");
}
