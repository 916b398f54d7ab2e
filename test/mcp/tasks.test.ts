// Tasks: a call that outlives its client's connections and the replica that took it.

import { expect, test } from "vitest";
import { completed, delta, failed, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { ask, eventsOf, offer, send, setMcpStage, tasks } from "./stage.ts";

const capabilities = { elicitation: {}, ...tasks };

/** A runner that ends when the test says so. */
function heldTool() {
  const held = Promise.withResolvers<void>();
  return {
    release: held.resolve,
    run: async function* ({ signal }: Run) {
      yield delta("thinking");
      signal.addEventListener("abort", () => held.resolve());
      await held.promise;
      yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("done");
    },
  };
}

test("a short call has its result at once, a long one is a task", async () => {
  const { service, provider } = await setMcpStage();
  const { run, release } = heldTool();
  await offer(service, { slow: run });
  provider.respond(answer("quick"));
  const quick = await ask(
    service.url,
    "tools/call",
    { name: "default", arguments: { message: "go" } },
    { capabilities },
  );
  expect(["complete", "task"]).toContain(quick.result.resultType);
  const call = { name: "slow", arguments: { message: "go", session_id: "talk-1" } };
  const { result: task } = await ask(service.url, "tools/call", call, { capabilities });
  expect(task).toMatchObject({
    resultType: "task",
    status: "working",
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    lastUpdatedAt: expect.any(String),
    ttlMs: expect.any(Number),
    pollIntervalMs: expect.any(Number),
  });
  const { taskId } = task;
  const get = () => ask(service.url, "tasks/get", { taskId }, { capabilities });
  expect((await get()).result).toMatchObject({ resultType: "complete", taskId, status: "working" });
  const undeclared = await send(service.url, "tasks/get", { taskId });
  expect([undeclared.status, await undeclared.json()]).toMatchObject([
    400,
    { error: { code: -32021, data: { requiredCapabilities: tasks } } },
  ]);
  for (const [id, clientId] of [
    [taskId, "stranger"],
    [crypto.randomUUID(), "local"],
    ["no id", "local"],
  ] as const) {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const foreign = await ask(service.url, method, { taskId: id, inputResponses: {} }, { capabilities, clientId });
      expect([method, id, foreign.error?.code]).toEqual([method, id, -32602]);
    }
  }
  release();
  await until("the end", async () => (await get()).result.status === "completed");
  expect((await get()).result.result).toMatchObject({
    content: [{ type: "text", text: "done" }],
    structuredContent: { run_id: taskId, session_id: "talk-1", state: "completed" },
  });
});

test("cancel is an empty ack, also of an ended task", async () => {
  const { service } = await setMcpStage();
  const { run } = heldTool();
  await offer(service, { slow: run });
  const { result: task } = await ask(
    service.url,
    "tools/call",
    { name: "slow", arguments: { message: "go" } },
    { capabilities },
  );
  const { taskId } = task;
  for (let times = 0; times < 2; times++) {
    const { result } = await ask(service.url, "tasks/cancel", { taskId }, { capabilities });
    expect(Object.keys(result).toSorted()).toEqual(["_meta", "resultType"]);
    await until("the end", async () => {
      const got = await ask(service.url, "tasks/get", { taskId }, { capabilities });
      return got.result.status === "cancelled";
    });
  }
});

test("an approval makes a task wait for input; the first answer counts", async () => {
  const agent = { tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const { service, provider } = await setMcpStage({ agentPresets: [`careful=${JSON.stringify(agent)}`] });
  provider.respond(async (wire, request) => {
    await until("the task", () => true);
    await callTools({ id: "c1", name: "list_dir", arguments: "{}" })(wire, request);
  }, answer("I was not allowed."));
  const call = { name: "careful", arguments: { message: "List it." } };
  const { result: task } = await ask(service.url, "tools/call", call, { capabilities });
  const { taskId } = task;
  const get = async () => (await ask(service.url, "tasks/get", { taskId }, { capabilities })).result;
  const waiting = await until("the question", async () => {
    const got = await get();
    return got.status === "input_required" && got;
  });
  const [approvalId = ""] = Object.keys(waiting.inputRequests);
  const update = (inputResponses: object, clientId?: string) =>
    ask(service.url, "tasks/update", { taskId, inputResponses }, { capabilities, ...(clientId && { clientId }) });
  // A closed form and an unknown key change nothing.
  await update({ [approvalId]: { action: "cancel" }, other: { action: "accept", content: { confirm: true } } });
  expect((await get()).status).toBe("input_required");
  await update({ [approvalId]: { action: "decline" } });
  await until("the end", async () => (await get()).status === "completed");
  await update({ [approvalId]: { action: "accept", content: { confirm: true } } });
  expect((await get()).result.content).toEqual([{ type: "text", text: "I was not allowed." }]);
});

test("another replica has the task", async () => {
  const first = await setMcpStage({}, { own: true });
  const { run, release } = heldTool();
  await offer(first.service, { slow: run });
  const { databaseUrl } = first.service;
  const second = await startService({ databaseUrl });
  const { result: task } = await ask(
    first.service.url,
    "tools/call",
    { name: "slow", arguments: { message: "go" } },
    { capabilities },
  );
  const { taskId } = task;
  const refused = await send(
    second.url,
    "subscriptions/listen",
    { notifications: { taskIds: [taskId, "other"] } },
    { capabilities },
  );
  expect(await refused.json()).toMatchObject({
    error: { code: -32602, message: 'notifications.taskIds[1]: there is no task "other"' },
  });
  const listening = await send(
    second.url,
    "subscriptions/listen",
    { notifications: { taskIds: [taskId] } },
    { capabilities },
  );
  const events = eventsOf(listening);
  const read = async () => JSON.parse((await events.next()).value?.data ?? "null");
  const _meta = { "io.modelcontextprotocol/subscriptionId": 1 };
  expect(await read()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { taskIds: [taskId] }, _meta },
  });
  expect(await read()).toMatchObject({ method: "notifications/tasks", params: { taskId, status: "working", _meta } });
  release();
  for (;;) {
    const { params } = await read();
    if (params.status === "completed") {
      expect(params.result.content).toEqual([{ type: "text", text: "done" }]);
      break;
    }
  }
  await events.return(undefined);
});

test("a new agent reaches clients that listen, and those of another key see nothing of it", async () => {
  const { service } = await setMcpStage();
  const own = eventsOf(
    await send(service.url, "subscriptions/listen", {
      notifications: { toolsListChanged: true, promptsListChanged: true },
    }),
  );
  const read = async () => JSON.parse((await own.next()).value?.data ?? "null");
  expect((await read()).params.notifications).toEqual({ toolsListChanged: true });
  const { run } = heldTool();
  await offer(service, { fresh: run });
  expect((await read()).method).toBe("notifications/tools/list_changed");
  await own.return(undefined);
  const namesOf = async (clientId: string) =>
    (await ask(service.url, "tools/list", {}, { clientId })).result.tools.map(({ name }: { name: string }) => name);
  expect(await namesOf("local")).toEqual(["default", "fresh"]);
  expect(await namesOf("stranger")).toEqual(["default"]);
  const stolen = await ask(
    service.url,
    "tools/call",
    { name: "fresh", arguments: { message: "x" } },
    { clientId: "stranger" },
  );
  expect(stolen.error?.code).toBe(-32602);
});
