// Usage over time, where agents and models are too many to add up in short periods.

import { expect, test } from "vitest";
import { UsageGroup, UsageService } from "#gen/runnel/v1/usage_service_pb.js";
import { startWithProvider } from "../conformance/stage.ts";
import { query } from "../harness/database.ts";

const { queryUsage } = UsageService.method;

test("a day of more than 20,000 sums is told by hours, and each agent of it in short periods", async () => {
  const { service, client } = await startWithProvider();
  const sums = `
    insert into usage_sum (client, seconds, start_time, agent_name, model, completed, failed, cancelled, prompt_tokens, completion_tokens,
      cost_micro_usd, durations, first_texts)
    select 'key/local', seconds, date_bin(make_interval(secs => seconds), now(), 'epoch') - age * make_interval(secs => seconds),
      'agent ' || agent, 'demo', 1, 0, 0, 7, 0, 0, durations, array_fill(0, array[96])
    from (values (300, 285), (3600, 23)) as period (seconds, kept) cross join generate_series(1, kept) as age
      cross join generate_series(1, 80) as agent
      cross join (select array_agg((bucket = 20)::int order by bucket) as durations from generate_series(1, 96) as bucket) as measured`;
  await query(service.databaseUrl, sums);
  const { report } = await client.call(queryUsage, { groupBy: UsageGroup.AGENT });
  expect(report?.stepSeconds).toBe(3_600);
  const named = { isRest: false, total: { completed: 23n, duration: { count: 23n } } };
  const rest = { isRest: true, total: { completed: 70n * 23n, duration: { count: 70n * 23n } } };
  expect(report?.series).toMatchObject([...Array.from({ length: 10 }, () => named), rest]);
  const ofOne = await client.call(queryUsage, { agentName: "agent 7" });
  expect(ofOne.report).toMatchObject({ stepSeconds: 300, series: [{ total: { completed: 285n } }] });
});
