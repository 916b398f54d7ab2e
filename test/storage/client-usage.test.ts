// Reserving a client's daily usage, concurrently.

import { expect, test } from "vitest";
import { correctUsage, readUsageOfToday, reserveUsage } from "../../src/agent/budget/storage/client-usage.ts";
import { openStore } from "../runlog/store.ts";

const max = { tokens: 1_000, costMicroUsd: 0 };

test("concurrent reservations never share tokens, and the last one gets the rest", async () => {
  const { db } = await openStore();
  const asked = { tokens: 30, costMicroUsd: 7 };
  const granted = await Promise.all(Array.from({ length: 40 }, () => reserveUsage(db, { client: "a", asked, max })));
  const tokens = granted.map((each) => each.tokens).toSorted((one, other) => other - one);
  expect(tokens).toEqual([...Array<number>(33).fill(30), 10, ...Array<number>(6).fill(0)]);
  // Without a limit of cost, all of it was granted.
  expect(await readUsageOfToday(db, "a")).toMatchObject({ tokens: 1_000, costMicroUsd: 280 });
  expect(await readUsageOfToday(db, "b")).toMatchObject({ tokens: 0, costMicroUsd: 0 });
});

test("returned usage can be reserved again, and the total never falls below zero", async () => {
  const { db } = await openStore();
  const { day } = await reserveUsage(db, { client: "a", asked: { tokens: 1_000, costMicroUsd: 5 }, max });
  await correctUsage(db, { client: "a", day, tokens: -400, costMicroUsd: -9 });
  expect(await readUsageOfToday(db, "a")).toEqual({ day, tokens: 600, costMicroUsd: 0 });
  expect(await reserveUsage(db, { client: "a", asked: { tokens: 900, costMicroUsd: 0 }, max })).toMatchObject({
    tokens: 400,
  });
});

test("an overdrawn day grants nothing", async () => {
  const { db } = await openStore();
  const { day } = await reserveUsage(db, { client: "a", asked: { tokens: 1_000, costMicroUsd: 0 }, max });
  await correctUsage(db, { client: "a", day, tokens: 50, costMicroUsd: 0 });
  expect(await reserveUsage(db, { client: "a", asked: { tokens: 1, costMicroUsd: 0 }, max })).toMatchObject({
    tokens: 0,
  });
});
