// Usage over time, where clients, agents and models are too many to add up in short periods.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { UsageGroup, UsageService } from "#gen/runnel/v1/usage_service_pb.js";
import { startWithProvider } from "../conformance/stage.ts";
import { adminToken, credentialsOf, operatorId } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";

const { queryUsage, queryUsageOfClients } = UsageService.method;

/** Adds a run a period, agent and client. The first client is that of the test. */
async function addSums(
  databaseUrl: string,
  {
    clients,
    agents,
    periods,
  }: { clients: number; agents: number; periods: readonly [seconds: number, kept: number][] },
): Promise<void> {
  await query(
    databaseUrl,
    `insert into usage_sum (client, seconds, start_time, agent_name, model, completed, failed, cancelled, prompt_tokens, completion_tokens,
      cost_micro_usd, durations, first_texts)
    select 'key/local' || repeat('x', client), seconds,
      date_bin(make_interval(secs => seconds), now(), 'epoch') - age * make_interval(secs => seconds),
      'agent ' || agent, 'demo', 1, 0, 0, 7, 0, 0, array_fill(0, array[19]) || 1 || array_fill(0, array[76]), array_fill(0, array[96])
    from (values ${periods.map((period) => `(${period})`)}) as period (seconds, kept)
      cross join generate_series(1, kept) as age cross join generate_series(1, ${agents}) as agent
      cross join generate_series(0, ${clients - 1}) as client`,
  );
}

test("of days with more than 20,000 sums the report has the counts without the times", async () => {
  const { service } = await startWithProvider({ authAdminToken: adminToken });
  const operator = new GrpcClient(service.target, credentialsOf(operatorId));
  await addSums(service.databaseUrl, { clients: 250, agents: 1, periods: [[86_400, 90]] });
  const timeFrom = timestampFromDate(new Date(Date.now() - 91 * 86_400_000));
  const { report } = await operator.call(queryUsageOfClients, { timeFrom, groupBy: UsageGroup.CLIENT });
  expect(report?.stepSeconds).toBe(86_400);
  const named = { isRest: false, total: { completed: 90n, promptTokens: 630n } };
  const rest = { isRest: true, total: { completed: 240n * 90n } };
  expect(report?.series).toMatchObject([...Array.from({ length: 10 }, () => named), rest]);
  expect(report?.series.every(({ total }) => total?.duration === undefined)).toBe(true);
});

test("a day of more than 20,000 sums is told by hours, and each agent of it in short periods", async () => {
  const { service, client } = await startWithProvider();
  await addSums(service.databaseUrl, {
    clients: 1,
    agents: 80,
    periods: [
      [300, 285],
      [3_600, 23],
    ],
  });
  const { report } = await client.call(queryUsage, { groupBy: UsageGroup.AGENT });
  expect(report?.stepSeconds).toBe(3_600);
  const named = { isRest: false, total: { completed: 23n, duration: { count: 23n } } };
  const rest = { isRest: true, total: { completed: 70n * 23n, duration: { count: 70n * 23n } } };
  expect(report?.series).toMatchObject([...Array.from({ length: 10 }, () => named), rest]);
  const ofOne = await client.call(queryUsage, { agentName: "agent 7" });
  expect(ofOne.report).toMatchObject({ stepSeconds: 300, series: [{ total: { completed: 285n } }] });
});
