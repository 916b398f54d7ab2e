// Child runs as tasks, by the official client over each binding.

import type { Task, TaskStatus } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { boss, callOf, echo, openStage, type Part } from "../child-runs/team.ts";
import type { Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { as, bindings, connect, listOf, say, TaskReader, textOf } from "./stage.ts";

const completed = 3;
const worker = { name: "worker", description: "Works.", agent: { system_prompt: "worker" } };
const preset = `boss=${JSON.stringify({ system_prompt: "boss", max_turns: 5, tools: { agents: [worker] } })}`;

test.for(bindings)("%s: a child run is a task that its parent's statuses refer to", async (binding) => {
  const gate = Promise.withResolvers<void>();
  const gated: Part = (messages, turn, request) => async (wire, call) => {
    wire.text("wait: ");
    await gate.promise;
    await (echo(messages, turn, request) as Script)(wire, call);
  };
  const stage = await openStage(
    { boss: boss(callOf("c1", "worker", { message: "dig" })), worker: gated },
    { agentPresets: [preset] },
  );
  const client = await connect(stage.service.url, binding);
  const statuses: TaskStatus[] = [];
  const parent = new TaskReader();
  const reading = (async () => {
    for await (const event of client.sendMessageStream(say("go"), as())) {
      parent.take(event);
      statuses.push(
        ...(event.payload?.$case === "statusUpdate" && event.payload.value.status ? [event.payload.value.status] : []),
      );
    }
  })();
  const referred = () => statuses.flatMap(({ message }) => message?.referenceTaskIds ?? []);
  const [childId = ""] = await until("the child task", () => referred().length > 0 && referred());
  const child = new TaskReader();
  const following = (async () => {
    for await (const event of client.resubscribeTask({ tenant: "", id: childId }, as())) {
      child.take(event);
    }
  })();
  await until("the first text of the child", () => child.text !== "");
  gate.resolve();
  await Promise.all([reading, following]);
  expect(child).toMatchObject({ taskId: childId, text: "wait: echo dig", state: completed });
  expect(parent).toMatchObject({ text: "they said: wait: echo dig", state: completed });
  expect(statuses.map(({ message }) => textOf(message?.parts)).filter((text) => text !== "")).toEqual([
    `worker works on task ${childId}.`,
  ]);
  const get = async (id: string) => await client.getTask({ tenant: "", id, historyLength: undefined }, as());
  const [ended, late]: Task[] = [await get(parent.taskId), await get(childId)];
  expect(ended?.history.map(({ role, referenceTaskIds }) => [role, referenceTaskIds])).toEqual([
    [1, []],
    [2, [childId]],
  ]);
  expect(late?.contextId).not.toBe(ended?.contextId);
  expect(textOf(late?.history[0]?.parts)).toBe("dig");
  const { tasks } = await client.listTasks(listOf(), as());
  expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set([childId, parent.taskId]));
  // Its context is its parent's alone.
  const intruding = client.sendMessage(say("and me?", { contextId: late?.contextId ?? "" }), as());
  await expect(intruding).rejects.toThrow(/context|session/);
});
