// Push notifications: the outbox of callbacks posts the task, with what the client gave for its receiver.

import type { Task, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { completed, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { answer, callTools } from "../fakes/provider.ts";
import type { WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { offer, setMcpStage } from "../mcp/stage.ts";
import { as, bindings, connect, say } from "./stage.ts";

const flags = { securityAllowPrivateNetworks: true };

async function openReceiver(): Promise<WireServer> {
  const server = await openWireServer(() => (wire) => wire.reply(200, "{}"));
  return server;
}

function configOf(
  taskId: string,
  url: string,
  more: Partial<TaskPushNotificationConfig> = {},
): TaskPushNotificationConfig {
  return { tenant: "", id: "", taskId, url, token: "", authentication: undefined, ...more };
}

function heldAgent() {
  const held = Promise.withResolvers<void>();
  return {
    release: held.resolve,
    run: async function* (_: Run) {
      await held.promise;
      yield completed("done");
    },
  };
}

/** Returns the tasks that were pushed: their states and their texts. */
function pushed({ requests }: WireServer) {
  return requests.map(({ text }) => {
    const { task } = JSON.parse(text);
    return [task.status.state, task.artifacts?.[0]?.parts[0].text ?? ""];
  });
}

test.for(bindings)("%s: a task is pushed to each address that it has at its end", async (binding) => {
  const { service } = await setMcpStage(flags);
  const held = heldAgent();
  await offer(service, { slow: held.run });
  const receiver = await openReceiver();
  // The first attempt fails, and is repeated.
  receiver.respond((wire) => wire.reply(500, "later"));
  const client = await connect(service.url, binding);
  const { id } = (await client.sendMessage(say("go", { tenant: "slow", returnImmediately: true }), as())) as Task;
  const authentication = { scheme: "Bearer", credentials: "shared secret" };
  const made = await client.createTaskPushNotificationConfig(
    configOf(id, `${receiver.origin}/one`, { id: "one", token: "known", authentication }),
    as(),
  );
  expect(made).toMatchObject({ id: "one", taskId: id, token: "known", authentication: { scheme: "Bearer" } });
  expect(JSON.stringify(made)).not.toContain("shared secret");
  const other = await client.createTaskPushNotificationConfig(configOf(id, `${receiver.origin}/two`), as());
  expect(other.id).not.toBe("");
  const named = { tenant: "", taskId: id, id: "one" };
  expect(await client.getTaskPushNotificationConfig(named, as())).toEqual(made);
  const list = { tenant: "", taskId: id, pageSize: 0, pageToken: "" };
  const ids = async () => (await client.listTaskPushNotificationConfig(list, as())).configs.map((each) => each.id);
  expect(await ids()).toEqual(["one", other.id]);
  for (const options of [as("stranger")]) {
    await expect(client.getTaskPushNotificationConfig(named, options)).rejects.toThrow(/there is no task/);
    await expect(client.listTaskPushNotificationConfig(list, options)).rejects.toThrow(/there is no task/);
    await expect(client.deleteTaskPushNotificationConfig(named, options)).rejects.toThrow(/there is no task/);
    await expect(client.createTaskPushNotificationConfig(configOf(id, receiver.origin), options)).rejects.toThrow(
      /there is no task/,
    );
  }
  await client.deleteTaskPushNotificationConfig({ ...named, id: other.id }, as());
  await client.deleteTaskPushNotificationConfig({ ...named, id: other.id }, as());
  expect(await ids()).toEqual(["one"]);
  await expect(client.getTaskPushNotificationConfig({ ...named, id: other.id }, as())).rejects.toThrow(/no push/);

  held.release();
  await until("both attempts", () => receiver.requests.length === 2, 10_000);
  expect(pushed(receiver)).toEqual([
    ["TASK_STATE_COMPLETED", "done"],
    ["TASK_STATE_COMPLETED", "done"],
  ]);
  expect(receiver.requests[1]).toMatchObject({
    method: "POST",
    path: "/one",
    headers: {
      "content-type": "application/a2a+json",
      authorization: "Bearer shared secret",
      "x-a2a-notification-token": "known",
    },
  });
});

test("an address of the message that begins a task gets its questions and its end", async () => {
  const agent = { tools: { builtin: ["list_dir"], approve: ["list_dir"] } };
  const { service, provider } = await setMcpStage({ ...flags, agentPresets: [`careful=${JSON.stringify(agent)}`] });
  const receiver = await openReceiver();
  const client = await connect(service.url, "JSONRPC");
  provider.respond(callTools({ id: "c1", name: "list_dir", arguments: "{}" }), answer("Paris"));
  const request = say("go", { tenant: "careful" });
  const taskPushNotificationConfig = configOf("", receiver.origin);
  const { id } = (await client.sendMessage(
    { ...request, configuration: { ...request.configuration, taskPushNotificationConfig } },
    as(),
  )) as Task;
  await until("the question", () => receiver.requests.length > 0, 10_000);
  expect(pushed(receiver)[0]?.[0]).toBe("TASK_STATE_AUTH_REQUIRED");
  await client.cancelTask({ tenant: "", id, metadata: undefined }, as());
  await until("the end", () => pushed(receiver).at(-1)?.[0] === "TASK_STATE_CANCELED", 10_000);
});

test("a task that ended before its address was written is pushed, and one of an ended task gets nothing", async () => {
  const { service, provider } = await setMcpStage(flags);
  const receiver = await openReceiver();
  const client = await connect(service.url, "HTTP+JSON");
  provider.respond(answer("one"), answer("two"));
  const request = say("go");
  const taskPushNotificationConfig = configOf("", receiver.origin);
  const configuration = { ...request.configuration, taskPushNotificationConfig };
  const first = (await client.sendMessage({ ...request, configuration }, as())) as Task;
  await until("the end", () => receiver.requests.length === 1, 10_000);
  expect(pushed(receiver)).toEqual([["TASK_STATE_COMPLETED", "one"]]);
  await client.createTaskPushNotificationConfig(configOf(first.id, `${receiver.origin}/late`), as());
  const second = say("go", { contextId: first.contextId });
  await client.sendMessage({ ...second, configuration }, as());
  await until("the next end", () => receiver.requests.length === 2, 10_000);
  expect(receiver.requests.map(({ path }) => path)).toEqual(["/", "/"]);
});

test("private addresses are refused, also at delivery, and a task has at most 10", async () => {
  const { service } = await setMcpStage();
  const held = heldAgent();
  await offer(service, { slow: held.run });
  const receiver = await openReceiver();
  const client = await connect(service.url, "JSONRPC");
  const request = say("go", { tenant: "slow", returnImmediately: true });
  const withPush = (url: string) => ({
    ...request,
    configuration: { ...request.configuration, taskPushNotificationConfig: configOf("", url) },
  });
  for (const url of [receiver.origin, "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/", "x"]) {
    await expect(client.sendMessage(withPush(url), as())).rejects.toThrow(/taskPushNotificationConfig.url/);
  }
  const { id } = (await client.sendMessage(withPush("https://a.example/"), as())) as Task;
  for (let count = 1; count < 10; count++) {
    await client.createTaskPushNotificationConfig(configOf(id, "https://a.example/"), as());
  }
  await expect(client.createTaskPushNotificationConfig(configOf(id, "https://a.example/"), as())).rejects.toThrow(
    /has 10 push/,
  );
  // What a name that changes its address would lead to.
  await query(service.databaseUrl, `update push_config set url = '${receiver.origin}' where run_id = '${id}'`);
  held.release();
  await until("a refusal", async () => {
    const sql = `select last_error as error from callback where run_id = '${id}' and last_error is not null`;
    const rows = await query<{ error: string }>(service.databaseUrl, sql);
    return rows.length > 0 && rows.every(({ error }) => /not allowed/.test(error));
  });
  expect(receiver.connections).toBe(0);
});
