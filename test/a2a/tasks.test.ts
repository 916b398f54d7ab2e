// Messages and tasks by the official client, over each binding: the same handlers, so the same answers.

import type { Task } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, failed, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { answer } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { offer, setMcpStage } from "../mcp/stage.ts";
import { as, bindings, connect, listOf, say, textOf } from "./stage.ts";

const working = 2;
const done = 3;
const failedState = 4;
const canceled = 5;
const rejected = 7;

/** A runner that ends when the test says so. */
function heldAgent() {
  const held = Promise.withResolvers<void>();
  return {
    release: held.resolve,
    run: async function* ({ signal }: Run) {
      yield delta("one ");
      signal.addEventListener("abort", () => held.resolve());
      await held.promise;
      yield delta("two");
      yield signal.aborted ? failed("cancelled", { code: "cancelled" }) : completed("one two");
    },
  };
}

test.for(bindings)(
  "%s: a message has its answer as an artifact, and the next one continues its context",
  async (binding) => {
    const { service, provider } = await setMcpStage();
    const client = await connect(service.url, binding);
    provider.respond(answer("Paris"), answer("Berlin"));
    const first = (await client.sendMessage(say("The capital of France?"), as())) as Task;
    expect([first.status?.state, textOf(first.artifacts[0]?.parts)]).toEqual([done, "Paris"]);
    expect(first.history.map(({ parts, taskId }) => [textOf(parts), taskId])).toEqual([
      ["The capital of France?", first.id],
    ]);
    const texts: string[] = [];
    const kinds: string[] = [];
    for await (const { payload } of client.sendMessageStream(
      say("Of Germany?", { contextId: first.contextId }),
      as(),
    )) {
      kinds.push(payload?.$case ?? "");
      if (payload?.$case === "artifactUpdate") {
        texts.push(textOf(payload.value.artifact?.parts));
      }
    }
    expect([kinds[0], kinds.at(-1), texts.join("")]).toEqual(["task", "statusUpdate", "Berlin"]);
    expect(provider.requests.at(-1)?.body).toMatchObject({
      messages: [{ content: "The capital of France?" }, { content: "Paris" }, { content: "Of Germany?" }],
    });
    const { tasks, totalSize } = await client.listTasks(
      listOf({ contextId: first.contextId, includeArtifacts: true }),
      as(),
    );
    expect([totalSize, tasks.map(({ artifacts }) => textOf(artifacts[0]?.parts))]).toEqual([2, ["Berlin", "Paris"]]);
    const read = await client.getTask({ tenant: "", id: first.id, historyLength: 0 }, as());
    expect([read.history, textOf(read.artifacts[0]?.parts)]).toEqual([[], "Paris"]);
  },
);

test.for(bindings)(
  "%s: two subscribers get what is there and what comes, one leaves, and the end is known",
  async (binding) => {
    const { service } = await setMcpStage();
    const { run, release } = heldAgent();
    await offer(service, { slow: run });
    const client = await connect(service.url, binding);
    const contextId = "talk 1 of a client: ä";
    const begun = (await client.sendMessage(
      say("go", { tenant: "slow", contextId, returnImmediately: true }),
      as(),
    )) as Task;
    expect(begun.contextId).toBe(contextId);
    await until("the first piece", async () => {
      const { artifacts, status } = await client.getTask({ tenant: "", id: begun.id, historyLength: undefined }, as());
      return status?.state === working && textOf(artifacts[0]?.parts) === "one ";
    });
    const leaving = client.resubscribeTask({ tenant: "", id: begun.id }, as());
    expect((await leaving.next()).value?.payload?.$case).toBe("task");
    await leaving.return();
    let text = "";
    let state: number | undefined;
    for await (const { payload } of client.resubscribeTask({ tenant: "", id: begun.id }, as())) {
      if (payload?.$case === "task") {
        text = textOf(payload.value.artifacts[0]?.parts);
        release();
      } else if (payload?.$case === "artifactUpdate") {
        text = (payload.value.append ? text : "") + textOf(payload.value.artifact?.parts);
      } else if (payload?.$case === "statusUpdate") {
        state = payload.value.status?.state;
      }
    }
    expect([text, state]).toEqual(["one two", done]);
    await expect(client.resubscribeTask({ tenant: "", id: begun.id }, as()).next()).rejects.toThrow(/ended/);
    await expect(client.sendMessage(say("more", { taskId: begun.id }), as())).rejects.toThrow(/ended/);
  },
);

test.for(bindings)("%s: a task is cancelled once, and another client has no such task", async (binding) => {
  const { service } = await setMcpStage();
  await offer(service, { slow: heldAgent().run });
  const client = await connect(service.url, binding);
  const { id } = (await client.sendMessage(say("go", { tenant: "slow", returnImmediately: true }), as())) as Task;
  const foreign = as("stranger");
  const metadata = undefined;
  for (const unknown of [id, crypto.randomUUID(), "no id"]) {
    const request = { tenant: "", id: unknown, metadata, historyLength: undefined };
    const options = unknown === id ? foreign : as();
    await expect(client.getTask(request, options)).rejects.toThrow(/there is no task/);
    await expect(client.cancelTask(request, options)).rejects.toThrow(/there is no task/);
    await expect(client.resubscribeTask(request, options).next()).rejects.toThrow(/there is no task/);
    await expect(client.sendMessage(say("x", { taskId: unknown }), options)).rejects.toThrow(/there is no task/);
  }
  expect((await client.listTasks(listOf(), foreign)).totalSize).toBe(0);
  const { run } = await new GrpcClient(service.target).call(RunService.method.getRun, { runId: id });
  expect([Run_State.QUEUED, Run_State.RUNNING]).toContain(run?.state);
  expect((await client.cancelTask({ tenant: "", id, metadata }, as())).status?.state).toBe(canceled);
  await expect(client.cancelTask({ tenant: "", id, metadata }, as())).rejects.toThrow(/ended/);
});

test.for(bindings)(
  "%s: the same message with its Idempotency-Key is one task, without a context too",
  async (binding) => {
    const { service, provider } = await setMcpStage();
    const client = await connect(service.url, binding);
    provider.respond(answer("Paris"), answer("Berlin"));
    const credentials = as();
    const keyed = (key: string) => ({
      serviceParameters: { ...credentials.serviceParameters, "Idempotency-Key": key },
    });
    const asked = say("The capital of France?");
    const first = (await client.sendMessage(asked, keyed("key-1"))) as Task;
    const again = (await client.sendMessage(asked, keyed("key-1"))) as Task;
    expect([again.id, again.contextId]).toEqual([first.id, first.contextId]);
    await expect(client.sendMessage(say("Of Germany?"), keyed("key-1"))).rejects.toThrow("another request");
    const next = (await client.sendMessage(say("Of Germany?", { contextId: first.contextId }), keyed("key-2"))) as Task;
    expect([next.contextId, textOf(next.artifacts[0]?.parts)]).toEqual([first.contextId, "Berlin"]);
  },
);

test("pages of tasks are in the order of their last change, without a gap", async () => {
  const { service, provider } = await setMcpStage();
  const { run, release } = heldAgent();
  await offer(service, { slow: run });
  const client = await connect(service.url, "HTTP+JSON");
  const slow = (await client.sendMessage(say("go", { tenant: "slow", returnImmediately: true }), as())) as Task;
  const ids: string[] = [];
  for (let count = 0; count < 4; count++) {
    provider.respond(answer("yes"));
    ids.unshift(((await client.sendMessage(say("Is it?"), as())) as Task).id);
  }
  release();
  await until("the end", async () => {
    const { status } = await client.getTask({ tenant: "", id: slow.id, historyLength: undefined }, as());
    return status?.state === done;
  });
  const found: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listTasks(listOf({ pageSize: 2, pageToken }), as());
    expect([page.totalSize, page.pageSize]).toEqual([5, 2]);
    found.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(found).toEqual([slow.id, ...ids]);
  expect((await client.listTasks(listOf({ status: canceled }), as())).tasks).toEqual([]);
  const later = await client.listTasks(listOf({ statusTimestampAfter: "2999-01-01T00:00:00Z" }), as());
  expect(later.totalSize).toBe(0);
  await expect(client.listTasks(listOf({ pageSize: 101 }), as())).rejects.toThrow(/pageSize/);
  await expect(client.listTasks(listOf({ pageToken: "x" }), as())).rejects.toThrow(/pageToken/);
});

test("each state has its tasks, in pages that the next page continues, with their number", async () => {
  const { service } = await setMcpStage();
  const held = heldAgent();
  await offer(service, {
    decline: async function* () {
      yield failed("no", { code: "rejected" });
    },
    fail: async function* () {
      yield failed("broken", { code: "runner.error" });
    },
    work: async function* () {
      yield completed("done");
    },
    slow: held.run,
  });
  const client = await connect(service.url, "HTTP+JSON");
  const sent: Record<string, string[]> = {};
  for (const tenant of ["decline", "fail", "work", "decline", "fail", "work", "decline"]) {
    const { id } = (await client.sendMessage(say("go", { tenant }), as())) as Task;
    sent[tenant] = [id, ...(sent[tenant] ?? [])];
  }
  for (let count = 0; count < 3; count++) {
    const request = say("go", { tenant: "slow", contextId: `talk ${count}`, returnImmediately: true });
    const { id } = (await client.sendMessage(request, as())) as Task;
    sent.slow = [id, ...(sent.slow ?? [])];
    await until("it works", async () => {
      const task = await client.getTask({ tenant: "", id, historyLength: undefined }, as());
      return task.status?.state === working;
    });
  }
  const read = async (status: number): Promise<readonly string[]> => {
    const found: Task[] = [];
    let pageToken = "";
    do {
      const page = await client.listTasks(listOf({ status, pageSize: 2, pageToken }), as());
      found.push(...page.tasks);
      pageToken = page.nextPageToken;
      expect(page.totalSize).toBeGreaterThanOrEqual(found.length);
      expect(page.totalSize - found.length > 0).toBe(pageToken !== "");
    } while (pageToken !== "");
    expect(found.every((task) => status === 0 || task.status?.state === status)).toBe(true);
    const times = found.map((task) => task.status?.timestamp ?? "");
    expect(times).toEqual(times.toSorted().toReversed());
    return found.map(({ id }) => id);
  };
  expect(await read(rejected)).toEqual(sent.decline);
  expect(await read(failedState)).toEqual(sent.fail);
  expect(await read(done)).toEqual(sent.work);
  expect(await read(working)).toEqual(sent.slow);
  expect(await read(canceled)).toEqual([]);
  expect((await read(0)).length).toBe(10);
  await expect(client.listTasks(listOf({ status: working, pageToken: "x" }), as())).rejects.toThrow(/pageToken/);
  held.release();
  // Not read in pages before: tasks that end between two pages would make them differ.
  await until("the end", async () => (await client.listTasks(listOf({ status: done }), as())).totalSize === 5);
  expect((await read(done)).length).toBe(5);
});

test("a list goes on until it finds a task, behind more tasks than a page reads", async () => {
  const { service, provider } = await setMcpStage();
  const client = await connect(service.url, bindings[0]);
  provider.respond(answer("Paris"));
  const { id } = (await client.sendMessage(say("The capital of France?"), as())) as Task;
  await query(
    service.databaseUrl,
    `with opened as (
       insert into session (id, client, name, agent)
       select gen_random_uuid(), client, 'many ' || n, '' from run, generate_series(1, 2100) as n returning id, client
     )
     insert into run (id, client, session, driver, input, status, epoch, deadline, end_time)
     select gen_random_uuid(), client, id, 'llm-loop', '', 'failed', 1, now(), now() + interval '1 hour' from opened`,
  );
  const { tasks, nextPageToken, totalSize } = await client.listTasks(listOf({ status: done, pageSize: 2 }), as());
  expect([tasks.map((task) => task.id), nextPageToken, totalSize]).toEqual([[id], "", 0]);
});
