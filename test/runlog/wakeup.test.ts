// Wake-ups over LISTEN and NOTIFY, against real Postgres.

import fc from "fast-check";
import { expect, onTestFinished } from "vitest";
import { PostgresWakeup, packNotifications, unpackPayload } from "../../src/engine/log/postgres-wakeup.ts";
import { type HeardMessage, type Topic, topics, type WakeupMessage } from "../../src/engine/log/wakeup.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { test } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import type { Store } from "./store.ts";

/** Postgres refuses a payload of this many bytes. */
const payloadBytesRefused = 8_000;

interface TestWakeup {
  readonly wakeup: PostgresWakeup;
  readonly heard: HeardMessage[];
  readonly gaps: () => number;
}

function openWakeup({ connections }: Store): TestWakeup {
  const wakeup = new PostgresWakeup({ connections, clock: systemClock, onError: () => {} });
  onTestFinished(() => wakeup.close());
  const heard: HeardMessage[] = [];
  let gaps = 0;
  wakeup.subscribe("result", (message) => heard.push(message));
  wakeup.onGap(() => gaps++);
  return { wakeup, heard, gaps: () => gaps };
}

const key = fc.oneof(
  fc.nat().map((ms) => newUuid(ms)),
  fc.constant(""),
);

test("packed wake-ups unpack to the same, in payloads that Postgres accepts", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...topics), key, fc.nat()), {
        maxLength: 600,
        selector: ([topic, each]) => topic + each,
      }),
      (words) => {
        const dirty = new Map<Topic, Map<string, number>>();
        for (const [topic, each, value] of words) {
          dirty.set(topic, (dirty.get(topic) ?? new Map<string, number>()).set(each, value));
        }
        const notifications = packNotifications(dirty);
        for (const { payload } of notifications) {
          expect(Buffer.byteLength(payload)).toBeLessThan(payloadBytesRefused);
        }
        const messages = notifications.flatMap(({ channel, payload }) =>
          unpackPayload(channel.replace("runnel_", "") as Topic, payload),
        );
        const sent = words.map(([topic, each, value]) => ({ topic, key: each, value }));
        expect(new Set(messages.map(text))).toEqual(new Set(sent.map(text)));
        expect(messages).toHaveLength(sent.length);
      },
    ),
  );
});

function text({ topic, key: of, value }: WakeupMessage): string {
  return `${topic} ${of} ${value}`;
}

test("another replica hears of thousands of runs, each with its newest sequence", async ({ store }) => {
  const [near, far] = [openWakeup(store), openWakeup(store)];
  await until("both to listen", () => near.gaps() > 0 && far.gaps() > 0);
  const keys = Array.from({ length: 3_000 }, () => newUuid(0));
  for (const each of keys) {
    near.wakeup.publish({ topic: "result", key: each, value: 2 });
    near.wakeup.publish({ topic: "result", key: each, value: 7 });
    near.wakeup.publish({ topic: "result", key: each, value: 5 });
  }
  for (const { heard } of [near, far]) {
    await until("all wake-ups", () => heard.length === keys.length);
    expect(heard.every(({ isOwn }) => isOwn === (heard === near.heard))).toBe(true);
    expect(new Set(heard.map(text))).toEqual(new Set(keys.map((each) => `result ${each} 7`)));
  }
});

test("a listener whose connection was ended reports a gap and listens again", async ({ store }) => {
  const { wakeup, heard, gaps } = openWakeup(store);
  await until("it to listen", () => gaps() === 1);
  await query(
    store.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name in ('runnel listen', 'runnel notify')`,
  );
  await until("the gap", () => gaps() === 2);
  await until("a wake-up", () => {
    wakeup.publish({ topic: "result", key: "run", value: 1 });
    return heard.length > 0;
  });
});

test("a listener that has unsubscribed hears nothing more", async ({ store }) => {
  const { wakeup, heard, gaps } = openWakeup(store);
  let count = 0;
  const unsubscribe = wakeup.subscribe("result", () => count++);
  await until("it to listen", () => gaps() === 1);
  unsubscribe();
  wakeup.publish({ topic: "result", key: "run", value: 1 });
  await until("the wake-up", () => heard.length === 1);
  expect(count).toBe(0);
});
