// A waiting exchange is only a row: its service holds no timer, no reader and no concurrency slot for it.

import { expect, test } from "vitest";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getOutbox, openStage, type Started, startExchange, submit } from "./stage.ts";

const waitingCount = 100;
/** Timers of the service itself vary by so many. */
const otherTimersMax = 10;

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

test("a hundred waiting exchanges hold no timer, and continue when their texts come", async () => {
  const stage = await openStage({ runsSlots: 4 });
  const begin = async (): Promise<Started> => {
    const exchange = await startExchange(stage);
    await getOutbox(stage.client, exchange);
    return exchange;
  };
  // Warms up: opens everything that is opened only once.
  await begin();
  const before = countTimers();
  const exchanges: Started[] = [];
  while (exchanges.length < waitingCount) {
    exchanges.push(...(await Promise.all(Array.from({ length: 10 }, begin))));
  }
  await until("no more timers than before", () => countTimers() <= before + otherTimersMax);
  expect(stage.service.app.countReaders()).toBe(0);
  expect(
    await query(
      stage.service.databaseUrl,
      "select status, count(*)::int as count, count(owner)::int as owners from run group by status",
    ),
  ).toEqual([{ status: "waiting", count: waitingCount + 1, owners: 0 }]);
  const answers = await Promise.all(
    exchanges.map((exchange) => submit(stage.client, exchange, "[DONE]\ndone\n[/DONE]")),
  );
  expect(answers.filter(({ isComplete }) => isComplete)).toHaveLength(waitingCount);
});
