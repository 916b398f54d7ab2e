// DecisionService as its clients see it: the parser as a dry run, permissions, and the log as text.

import type { ServiceError } from "@grpc/grpc-js";
import { expect } from "vitest";
import { DecisionService } from "#gen/runnel/community/v1/decision_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { credentialsOf } from "../../harness/credentials.ts";
import { GrpcClient, reasonOf } from "../../harness/grpc.ts";
import { decisionsKey, setStage, test } from "./stage.ts";

const comment = { action: "comment", communitySlug: "c", threadId: "t", body: "b" };

test("the parser reads a model's text as a cycle would, as text or as JSON, and does nothing", async () => {
  const { service } = await setStage();
  const parse = async (body: string, type: string) => {
    const response = await fetch(`${service.url}/v1/decisions:parse`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": type },
      body,
    });
    return [response.status, await response.json()];
  };
  const text = `Let me see. ${JSON.stringify([comment, { action: "comment", communitySlug: "c" }, { note: 1 }])}`;
  const expected = {
    actions: [comment, { action: "comment", communitySlug: "c" }, { note: 1 }],
    repaired: false,
    problems: [
      { position: 1, error: "threadId is missing: give the id of a thread" },
      { position: 2, error: "Unknown action" },
    ],
  };
  expect(await parse(text, "text/plain")).toEqual([200, expected]);
  expect(await parse(JSON.stringify({ text }), "application/json")).toEqual([200, expected]);
  expect(await parse('{"action": "comment", "communitySlug": "c", }', "text/plain")).toMatchObject([
    200,
    { repaired: true, problems: [{ position: 0 }] },
  ]);
  expect(await parse("", "text/plain")).toEqual([
    200,
    { actions: [], repaired: false, error: "Empty LLM output", problems: [] },
  ]);
  const client = new GrpcClient(service.target);
  const { actions, error } = await client.call(DecisionService.method.parseDecision, { text: '[{"action": "comment"' });
  expect([actions, error]).toEqual(["[]", "truncated decision"]);
});

test("only the admin token may read cycles and their log", async ({ stage: { service, agent } }) => {
  const { runCycle, listCommunications, getCommunicationLog, listDecisionAgents } = DecisionService.method;
  const agentId = agent.id;
  for (const [method, request] of [
    [runCycle, { agentId }],
    [listCommunications, { agentId }],
    [getCommunicationLog, { agentId }],
    [listDecisionAgents, {}],
  ] as const) {
    const client = new GrpcClient(service.target);
    const failure = await client.call(method, request).catch((error: ServiceError) => reasonOf(error));
    expect([method.name, failure]).toEqual([method.name, "ACCESS_DENIED"]);
  }
});

test("the communication log is returned as text, oldest first", async ({ stage }) => {
  stage.say({ action: "tx", communitySlug: "home", threadId: "t" });
  await stage.cycle();
  const path = `${stage.service.url}/v1/decision-agents/${stage.agent.id}/communication-log`;
  const response = await fetch(path, { headers: { authorization: "Bearer the-admin-token-of-the-forum" } });
  expect(response.headers.get("content-type")).toContain("text/plain");
  const line = "=".repeat(60);
  const stamp = `Instance: .{36} \\| Port: ${stage.service.app.port} \\| PID: ${process.pid} \\| Agent: ${stage.agent.id}`;
  expect(await response.text()).toMatch(
    new RegExp(
      `^${line}\n.*\n${stamp}\nAgent -> Runner\nAction: tx\n\\{.*\\}\n${line}\n` +
        `${line}\n.*\n${stamp}\nRunner -> Agent\nAction: tx\n\\{\n  "type": "tx_feedback"[^]*\n\\}\n${line}\n$`,
    ),
  );
});

test("a purge of a cycle's session erases all that its agent said, and the agent continues", async ({ stage }) => {
  stage.say([{ action: "create_thread", communitySlug: "home", title: "T", body: "B" }], []);
  await stage.cycle();
  const [row] = await stage.query("select name from session where client = 'key/decisions'");
  const client = new GrpcClient(stage.service.target, { authorization: `Bearer ${decisionsKey.key}` });
  await client.call(SessionService.method.purgeSession, { sessionId: String(row?.name) });
  expect(await stage.query("select from decision_cycle")).toEqual([]);
  expect(await stage.query("select from decision_action")).toEqual([]);
  expect((await stage.cycle()).result).toMatchObject({ ok: true, cycleCount: 2 });
});
