// A task that asks a person for a text: it shows the question, and a message to the task answers it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { openStage, startExchange } from "../exchanges/stage.ts";
import { until } from "../harness/wait.ts";
import { as, bindings, connect, listOf, say, textOf } from "./stage.ts";

const done = 3;
const inputRequired = 6;

test.for(bindings)("%s: an exchange shows its outbox, and messages are its inboxes", async (binding) => {
  const stage = await openStage();
  const { exchangeId, runId: id } = await startExchange(stage, { task: "Write a poem." });
  const client = await connect(stage.service.url, binding);
  const get = async (): Promise<Task> => await client.getTask({ tenant: "", id, historyLength: undefined }, as());
  await until("the question", async () => (await get()).status?.state === inputRequired);
  const asked = await get();
  const question = textOf(asked.status?.message?.parts);
  expect(question).toContain(`Session: ${exchangeId}`);
  expect(question).toContain("Write a poem.");
  const { tasks, totalSize } = await client.listTasks(listOf({ status: inputRequired }), as());
  expect([tasks.map((task) => task.id), totalSize]).toEqual([[id], 1]);
  expect((await client.listTasks(listOf({ status: 2 }), as())).tasks).toEqual([]);

  await expect(client.sendMessage(say("x", { taskId: id }), as("stranger"))).rejects.toThrow(/there is no task/);
  await expect(client.sendMessage(say("x", { taskId: id, contextId: "other" }), as())).rejects.toThrow(/context/);
  const inbox = '[CREATE_FILE path="poem.txt"]\nOnce.\n[/CREATE_FILE]\n';
  const next = (await client.sendMessage(say(inbox, { taskId: id }), as())) as Task;
  expect([next.id, next.status?.state]).toEqual([id, inputRequired]);
  expect(textOf(next.status?.message?.parts)).toContain("Created 'poem.txt'");
  expect(readFileSync(join(stage.area.root, "poem.txt"), "utf8")).toBe("Once.");

  const kinds: (string | undefined)[] = [];
  const states: (number | undefined)[] = [];
  let text = "";
  const watching = client.resubscribeTask({ tenant: "", id }, as());
  expect((await watching.next()).value?.payload).toMatchObject({ $case: "task", value: { id } });
  const last = say("[DONE]\nIt is in poem.txt.\n[/DONE]\n", { taskId: id, contextId: asked.contextId });
  for await (const { payload } of client.sendMessageStream(last, as())) {
    kinds.push(payload?.$case);
    if (payload?.$case === "task" || payload?.$case === "statusUpdate") {
      states.push(payload.value.status?.state);
    } else if (payload?.$case === "artifactUpdate") {
      text += textOf(payload.value.artifact?.parts);
    }
  }
  expect([kinds[0], states, text]).toEqual(["task", [inputRequired, 2, done], "It is in poem.txt."]);
  const watched = await Array.fromAsync(watching, ({ payload }) => payload?.$case);
  expect(watched.at(-1)).toBe("statusUpdate");
  await expect(client.sendMessage(last, as())).rejects.toThrow(/ended/);
});

test("an answer that streams says when the task asks again", async () => {
  const stage = await openStage();
  const { runId: id } = await startExchange(stage);
  const client = await connect(stage.service.url, "JSONRPC");
  const inbox = say("[MESSAGE]\nHello.\n[/MESSAGE]\n", { taskId: id });
  await until("the question", async () => {
    const { status } = await client.getTask({ tenant: "", id, historyLength: undefined }, as());
    return status?.state === inputRequired;
  });
  const events = await Array.fromAsync(client.sendMessageStream(inbox, as()), ({ payload }) => payload);
  expect(events.at(-1)).toMatchObject({ $case: "statusUpdate", value: { status: { state: inputRequired } } });
  const again = await Array.fromAsync(client.sendMessageStream(inbox, as()), ({ payload }) => payload?.$case);
  expect(again).toEqual(["task"]);
});
