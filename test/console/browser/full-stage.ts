// A service with one of everything that the console shows, each named and filled by the same text.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { readMcpServers } from "../../../src/platform/config/mcp-servers.ts";
import { endOfRun } from "../../conformance/stage.ts";
import { openFakeRunner, sayDone } from "../../fakes/dialled-runner.ts";
import { openMcpServer } from "../../fakes/mcp-server.ts";
import { answer, callTools, type Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { send } from "../../forum/stage.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { until } from "../../harness/wait.ts";
import { setJobStage, specOf } from "../../jobs/stage.ts";

const { createSession, sendMessage } = SessionService.method;
const runnerId = "plugin:acme/translate/fast";
/** Names are short. */
const nameChars = 100;

export async function setFullStage(text: string, authAdminToken: string) {
  const name = text.slice(0, nameChars);
  const mcp = await openMcpServer((server) => {
    server.registerTool("search", { description: text.slice(0, 1_000) }, async () => ({ content: [] }));
  });
  const { provider, service, signer } = await setJobStage({
    ...{ consoleEnabled: true, authAdminToken, keepModelCalls: true, securityAllowPrivateNetworks: true },
    ...{ trustVerifyIntervalSec: 0, forumNoncesPerMinute: 0 },
    mcpServers: readMcpServers(`docs=${JSON.stringify({ url: mcp.url })}`) ?? expect.fail("the line is valid"),
  });
  const client = new GrpcClient(service.target);
  const headers = { authorization: `Bearer ${authAdminToken}` };
  const admin = new GrpcClient(service.target, headers);
  const agent = { name, tools: { builtin: ["list_dir", "write_file"], approve: ["write_file"] } };
  const annotations = JSON.stringify({ subject: name });
  const { sessionId } = await client.call(createSession, { agent, annotations });
  const run = async (session: string, ...scripts: readonly Script[]): Promise<string> => {
    provider.respond(...scripts);
    return (await client.call(sendMessage, { sessionId: session, message: text, annotations })).runId;
  };
  const call = callTools({ id: "one", name: "list_dir", arguments: JSON.stringify({ path: name }) });
  const runId = await run(sessionId, call, answer(`# ${text}\n\n\`\`\`\n${text}\n\`\`\``));
  await endOfRun(client, runId);
  const otherId = await run(sessionId, fail(400, JSON.stringify({ error: { message: text.slice(0, 5_000) } })));
  await endOfRun(client, otherId);
  const asking = await client.call(createSession, { agent });
  const file = JSON.stringify({ file_path: name, content: text });
  const waits = await run(asking.sessionId, callTools({ id: "two", name: "write_file", arguments: file }));
  const approvalId = await until("the approval", async () => {
    const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId: waits });
    return approvals[0]?.approvalId;
  });
  const evaluationId = "5f0c";
  const evaluation = { evaluation: evaluationId, sources: [runId, otherId] };
  await client.call(createSession, {
    ...{ sessionId: `evaluation-${evaluationId}`, agent: { name: "evaluation" } },
    annotations: JSON.stringify(evaluation),
  });
  const schedule = { scheduleId: "nightly", cron: "0 3 * * *", sessionId, message: { message: text } };
  await client.call(ScheduleService.method.createSchedule, { schedule });
  await client.call(sendMessage, { sessionId, message: text, startTime: timestampFromMs(Date.now() + 9_000_000) });
  const closed = { baseUrl: "http://127.0.0.1:9/hooks" };
  await client.call(createSession, { agent: { name, model: "demo" }, callback: closed });
  await client.call(MemoryService.method.writeMemory, { key: "style", value: JSON.stringify(text.slice(0, 5_000)) });
  await admin.call(AuthService.method.createApiKey, { clientId: "billing", displayName: name });
  const { exchangeId } = await client.call(ExchangeService.method.startExchange, { task: text.slice(0, 9_000) });
  const data = Buffer.from(signer.signV1(specOf({ jobspec_id: name, questions: [text.slice(0, 500)] })));
  const { id: jobId } = await client.call(JobService.method.submitJob, { document: { data } });
  await openRunner(client, name);
  const community = { slug: "home", name };
  const sent = await send(service, "POST", "/v1/communities", {
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(community),
  });
  const ids = { runId, otherId, sessionId, approvalId, evaluationId, exchangeId, jobId, runnerId };
  return { service, ids: { ...ids, bindingId: "translate", communityId: String(sent.body.id) } };
}

async function openRunner(client: GrpcClient, name: string): Promise<void> {
  const dialled = await openFakeRunner(async function* () {
    yield sayDone();
  });
  dialled.manifests = [JSON.stringify({ id: runnerId, name: "fast", label: { en_US: name } })];
  await client.call(RunnerService.method.registerRunners, { workerId: "translator", url: dialled.url });
  const binding = { bindingId: "translate", runnerId, runnerConfig: JSON.stringify({ to: name }) };
  await client.call(RunnerService.method.putBinding, { binding });
}
