// An exchange that waits for its person is a row: its service holds no timer for it, no reader, and no place of a run.

import { expect, test } from "vitest";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getOutbox, openStage, type Started, startExchange, submit } from "./stage.ts";

const waitingCount = 100;
/** What the service itself waits for comes and goes. */
const otherTimersMax = 10;

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

test("a hundred exchanges that wait hold no timer, and go on when their texts come", async () => {
  const stage = await openStage({ runsSlots: 4 });
  const begin = async (): Promise<Started> => {
    const exchange = await startExchange(stage);
    await getOutbox(stage.client, exchange);
    return exchange;
  };
  // So that what is opened once is open.
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
