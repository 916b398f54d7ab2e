// Scheduled cycles: one in each interval, however many replicas run.

import { expect } from "vitest";
import { answer } from "../../fakes/provider.ts";
import { until } from "../../harness/wait.ts";
import { setStage, test } from "./stage.ts";

test("two replicas start one cycle in each interval, and none after they have stopped", async ({ stage: first }) => {
  const again = Array.from({ length: 50 }, () => answer("[]"));
  first.provider.respond(...again);
  const settings = {
    databaseUrl: first.service.databaseUrl,
    openaiBaseUrl: first.provider.baseUrl,
    decisionsAgents: [{ agent: first.agent.id, key: first.agent.token }],
    decisionsIntervalSeconds: 1,
  };
  const twins = [await setStage(settings), await setStage(settings)];
  const begins = async () =>
    await first.query(
      `select extract(epoch from create_time - lag(create_time) over (order by id))::float8 as gap
       from run where driver = 'decision-cycle' order by id`,
    );
  const rows = await until(
    "four cycles",
    async () => {
      const all = await begins();
      return all.length >= 4 ? all : undefined;
    },
    30_000,
  );
  const [, ...gaps] = rows.map(({ gap }) => Number(gap));
  // By the database's clock, from transaction to transaction.
  expect(gaps.filter((gap) => gap < 1)).toEqual([]);
  await Promise.all(twins.map(({ service }) => service.close()));
  const { length } = await begins();
  const { body } = await first.admin("GET", "/v1/decision-agents");
  expect(body.agents.find((each: { agent_id: string }) => each.agent_id === first.agent.id).cycle_count).toBe(length);
});

test("an agent gets a new session every day; the old one is deleted and its runs stay readable", async ({ stage }) => {
  stage.say([], [], []);
  const [one, two] = [await stage.cycle(), await stage.cycle()];
  await stage.query("update decision_agent set session_time = now() - interval '25 hours'");
  const three = await stage.cycle();
  const rows = await stage.query(
    "select run.id, session.id as session, session.delete_time is not null as deleted from run join session on session.id = run.session order by run.id",
  );
  expect(rows.map(({ id, deleted }) => [id, deleted])).toEqual([
    [one.runId, true],
    [two.runId, true],
    [three.runId, false],
  ]);
  expect((await stage.followCycle(one.runId)).result).toMatchObject({ ok: true, cycleCount: 1 });
  expect(three.result).toMatchObject({ cycleCount: 3 });
});
