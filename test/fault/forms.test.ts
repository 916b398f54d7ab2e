// The process dies while a person fills in the form of a server. The connection of the form is gone with it, so the next process reports
// the call, and the form can no longer be filled in.

import { expect, test } from "vitest";
import { z } from "zod";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { openMcpServer } from "../fakes/mcp-server.ts";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { type GrpcClient, reasonOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { readLog } from "./log-reader.ts";

const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

async function setStage(next = answer("done")) {
  const given: unknown[] = [];
  const server = await openMcpServer((each) => {
    each.registerTool("book", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      given.push(
        await mcpReq.elicitInput({
          message: "Where to?",
          requestedSchema: { type: "object", properties: { city: { type: "string" } } },
        }),
      );
      return { content: [{ type: "text", text: "booked" }] };
    });
  }, "sessions");
  const { provider, environment } = await openProvider();
  provider.respond(callTools({ id: "call_book", name: "srv_book", arguments: "{}" }), next);
  const cluster = await openCluster({ ...environment, RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32" });
  const first = await cluster.start();
  const agent = { name: "fault", tools: { mcp: [{ name: "srv", url: server.url, forms: true }] } };
  const { runId } = await startRun(first.client, "go", agent);
  const approval = await until("the form", async () => {
    const { approvals } = await first.client.call(ApprovalService.method.listApprovals, { runId });
    return approvals[0];
  });
  return { cluster, first, runId, approval, given };
}

const fillIn = (client: GrpcClient, { approvalId, digest }: Approval) =>
  client.call(ApprovalService.method.decideApproval, {
    ...{ approvalId, digest, decision: Approval_Decision.APPROVE, values: '{"city":"Lund"}' },
  });

const resultsOf = async (client: GrpcClient, runId: string) =>
  (await readLog(client, runId)).flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value.error || payload.value.result] : [],
  );

test("a form of a killed replica is over: its call is reported, and a decision changes nothing", async () => {
  const { cluster, first, runId, approval, given } = await setStage(hangAfter("Well"));
  await first.kill();
  const second = await cluster.startHere();
  const { approvalId } = approval;
  await until("the form to be over", async () => {
    const { approval: now } = await second.client.call(ApprovalService.method.getApproval, { approvalId });
    return now?.state === Approval_State.EXPIRED;
  });
  expect(reasonOf(await fillIn(second.client, approval).catch((error) => error))).toBe("APPROVAL_EXPIRED");
  await second.client.call(RunService.method.cancelRun, { runId });
  expect(await resultsOf(second.client, runId)).toEqual([interrupted]);
  expect(given).toEqual([]);
  await expectInvariants(cluster.databaseUrl);
});

test("a form is filled in over another replica than the one that waits", async () => {
  const { cluster, runId, approval, given } = await setStage();
  const second = await cluster.startHere();
  await fillIn(second.client, approval);
  expect(await resultsOf(second.client, runId)).toEqual(['{"content":"booked"}']);
  expect(given).toEqual([{ action: "accept", content: { city: "Lund" } }]);
  expect(await query(cluster.databaseUrl, "select answer from approval")).toEqual([{ answer: null }]);
  await expectInvariants(cluster.databaseUrl);
});
