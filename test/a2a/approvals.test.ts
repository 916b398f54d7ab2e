// A task that waits for an approval: its stream stays open, and continues after the decision.

import type { Task } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { answer, callTools } from "../fakes/provider.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { setMcpStage } from "../mcp/stage.ts";
import { as, bindings, connect, listOf, say, textOf } from "./stage.ts";

const authRequired = 8;

test.for(bindings)("%s: a task that needs an approval says so, and goes on when it is decided", async (binding) => {
  const agent = { tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const { service, provider } = await setMcpStage({ agentPresets: [`careful=${JSON.stringify(agent)}`] });
  const client = await connect(service.url, binding);
  const request = say("List it.", { tenant: "careful" });
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), answer("I was not allowed."));
  const task = (await client.sendMessage(request, as())) as Task;
  expect(task.status?.state).toBe(authRequired);
  const question = task.status?.message?.parts.find(({ content }) => content?.$case === "data")?.content?.value;
  expect(question).toMatchObject({ approvalId: expect.any(String), digest: expect.any(String), action: "list_dir" });
  const asked = await client.listTasks(listOf({ status: authRequired }), as());
  expect(asked.tasks.map(({ id }) => id)).toEqual([task.id]);
  await expect(client.sendMessage(say("go on", { taskId: task.id }), as())).rejects.toThrow(/approval/);

  const { approvalId, digest } = question as { readonly approvalId: string; readonly digest: string };
  const contract = new GrpcClient(service.target);
  const decide = (of: string) =>
    contract.call(ApprovalService.method.decideApproval, {
      approvalId,
      digest: of,
      decision: Approval_Decision.REJECT,
    });
  const states: (number | undefined)[] = [];
  let text = "";
  for await (const { payload } of client.resubscribeTask({ tenant: "", id: task.id }, as())) {
    if (payload?.$case === "task") {
      states.push(payload.value.status?.state);
      await expect(decide("0".repeat(64))).rejects.toThrow(/digest/);
      await decide(digest);
    } else if (payload?.$case === "statusUpdate") {
      states.push(payload.value.status?.state);
    } else if (payload?.$case === "artifactUpdate") {
      text += textOf(payload.value.artifact?.parts);
    }
  }
  expect([text, states]).toEqual(["I was not allowed.", [authRequired, 2, 3]]);
});
