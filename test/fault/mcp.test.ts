// A task of MCP under the death of its replica: another one has it, and its result is the run's.

import { expect, test } from "vitest";
import { answer, hangAfter } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { ask, tasks } from "../mcp/stage.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";

test("a task whose replica is killed is polled to its end at another one", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("The who"), answer("The whole sentence"));
  const cluster = await openCluster(environment);
  const dying = await cluster.start();
  const options = { capabilities: tasks };
  const call = { name: "default", arguments: { message: "Say it." } };
  const { result: task } = await ask(dying.url, "tools/call", call, options);
  expect(task).toMatchObject({ resultType: "task", status: "working" });
  await until("the first words", () => provider.requests.length === 1);
  await dying.kill();
  const other = await cluster.startHere();
  await expectWhole(other.url, task.taskId);
});

/** Waits for the end of a task, which has the whole sentence. */
async function expectWhole(url: string, taskId: string): Promise<void> {
  const end = await until("the end", async () => {
    const { result } = await ask(url, "tasks/get", { taskId }, { capabilities: tasks });
    return result.status !== "working" && result;
  });
  expect(end).toMatchObject({
    status: "completed",
    result: { content: [{ type: "text", text: "The whole sentence" }], structuredContent: { run_id: taskId } },
  });
}

/** The steps of a run after its client has got the task. */
const places = ["model.first-part", "model.finished", "terminal.writing", "terminal.committed", "terminal.announced"];

test.each(places)("a task has the result of its run after a kill at %s", async (place) => {
  const { provider, environment } = await openProvider();
  const { promise: hasTask, resolve: release } = Promise.withResolvers<void>();
  const say = answer("The whole sentence");
  provider.respond(async (wire, request) => {
    await hasTask;
    await say(wire, request);
  }, say);
  const cluster = await openCluster(environment);
  const dying = await cluster.start({ RUNNEL_FAILPOINT: place });
  const options = { capabilities: tasks };
  const call = { name: "default", arguments: { message: "Say it." } };
  const { result: task } = await ask(dying.url, "tools/call", call, options);
  expect(task).toMatchObject({ resultType: "task", status: "working" });
  release();
  await until("the kill", () => !isAlive(dying));
  const other = await cluster.startHere();
  await expectWhole(other.url, task.taskId);
});
