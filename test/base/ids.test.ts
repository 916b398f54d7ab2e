// Ids that sort by creation time.

import { expect, test } from "vitest";
import { lowestUuid, newUuid } from "../../src/platform/base/ids.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

test("ids of one millisecond sort in the order of their creation, and differ", () => {
  for (let round = 0; round < 200; round++) {
    const ids = Array.from({ length: 2_000 }, () => newUuid(nowMs + round));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test("an id is a uuidv7 of its millisecond, after any earlier ids", () => {
  for (const ms of [nowMs, nowMs + 0.9, nowMs - 60_000, nowMs + 1]) {
    const id = newUuid(ms);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.slice(0, 13)).toBe(lowestUuid(Math.floor(ms)).slice(0, 13));
  }
});

test("ids of one millisecond still differ after their counter has wrapped", () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newUuid(nowMs))).size).toBe(10_000);
});
