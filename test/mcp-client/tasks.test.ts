// Servers that answer the call of a tool with a task: its result is asked for until the task ends.

import { expect, test } from "vitest";
import { type AnswerByHand, openModernByHand } from "./modern-by-hand.ts";
import { openRun } from "./stage.ts";

const task = {
  taskId: "task 1",
  createdAt: "2026-11-29T00:00:00Z",
  lastUpdatedAt: "2026-11-29T00:00:00Z",
  ttlMs: 60_000,
};
const begun = { resultType: "task", ...task, status: "working", pollIntervalMs: 100 };

/** Opens a server whose task has these states, one after the other; the last one stays. */
async function openTask(...states: readonly object[]) {
  let looks = 0;
  const get: AnswerByHand = () => {
    const state = states[Math.min(looks, states.length - 1)] ?? {};
    looks += 1;
    return "code" in state ? state : { resultType: "complete", ...task, pollIntervalMs: 100, ...state };
  };
  return await openModernByHand(["job"], {
    "tools/call": () => begun,
    "tasks/get": get,
    "tasks/cancel": () => ({ resultType: "complete" }),
  });
}

const working = { status: "working", statusMessage: "half way" };
const done = { status: "completed", result: { content: [{ type: "text", text: "the result" }] } };

test("a task is asked for until it has ended, and its result is that of the call", async () => {
  const server = await openTask({ status: "working" }, working, working, done);
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_job")).toEqual({ content: "the result" });
  const asked = server.requests.filter(({ rpc }) => rpc === "tasks/get");
  expect(asked).toHaveLength(4);
  expect(asked[0]).toMatchObject({
    headers: { "mcp-method": "tasks/get", "mcp-name": "task 1", "mcp-protocol-version": "2026-07-28" },
    body: { params: { taskId: "task 1" } },
  });
  const [call] = server.calls();
  const declared = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  for (const { body } of [call, asked[0]].flatMap((each) => each ?? [])) {
    expect(body).toMatchObject({ params: { _meta: { "io.modelcontextprotocol/clientCapabilities": declared } } });
  }
  expect(run.progress.map(({ message }) => message)).toEqual(["half way"]);
});

test.each([
  [
    { status: "failed", error: { code: -32603, message: "broken" } },
    "the server answered with the error -32603: broken",
  ],
  [{ ...done, result: { content: [{ type: "text", text: "no such file" }], isError: true } }, "no such file"],
  [{ status: "cancelled", statusMessage: "too late" }, "the server cancelled the task: too late"],
  [{ status: "paused" }, 'the server\'s task has the unknown status "paused"'],
  [{ status: "completed" }, "the server's task has no result that can be read"],
  [{ code: -32602, message: "no such task" }, "the server answered with the error -32602: no such task"],
])("the end %j of a task is an error of the call", async (state, error) => {
  const server = await openTask(state);
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_job")).toEqual({ error });
});

test("a task that asks for input is cancelled, and the model reads what it asked for", async () => {
  const inputRequests = { go: { method: "elicitation/create", params: {} } };
  const server = await openTask({ status: "input_required", inputRequests });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_job")).toEqual({
    error: "the server asks for elicitation/create, which this service does not give",
  });
  expect(server.requests.at(-1)?.rpc).toBe("tasks/cancel");
});

test("a cancelled call cancels its task, and so does one whose time is over", async () => {
  const server = await openTask(working);
  const run = await openRun([{ url: server.url, timeoutSec: 1 }]);
  expect(await run.call("srv_job")).toEqual({ error: "the server did not end the task in time" });
  expect(server.requests.at(-1)?.rpc).toBe("tasks/cancel");
  const stop = new AbortController();
  const call = run.call("srv_job", {}, stop.signal);
  await expect.poll(() => server.requests.at(-1)?.rpc).toBe("tasks/get");
  stop.abort();
  expect(await call).toEqual({ error: "context canceled" });
  await expect.poll(() => server.requests.at(-1)?.rpc).toBe("tasks/cancel");
});

test("a task of another replica is asked for, and the call is not made again", async () => {
  const server = await openTask(working, done);
  const run = await openRun([{ url: server.url }]);
  expect(await run.resume("srv_job", "task 1")).toEqual({ content: "the result" });
  expect(server.calls()).toEqual([]);
});

test("a run that another replica continues leaves its task at work", async () => {
  const server = await openTask(working);
  const run = await openRun([{ url: server.url }], { isHandedOn: () => true });
  const stop = new AbortController();
  const call = run.call("srv_job", {}, stop.signal);
  await expect.poll(() => server.requests.at(-1)?.rpc).toBe("tasks/get");
  stop.abort();
  await call;
  expect(server.requests.filter(({ rpc }) => rpc === "tasks/cancel")).toEqual([]);
});

test.each([1, "", "x".repeat(2_000), "\0", "\ud800"])("the task id %j is refused", async (taskId) => {
  const server = await openModernByHand(["job"], { "tools/call": () => ({ ...begun, taskId }) });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_job")).toEqual({
    error: "the server began a task without a valid id (1 to 1024 characters)",
  });
});

test("a result without a type is a whole one", async () => {
  const server = await openModernByHand(["plain"], {
    "tools/call": () => ({ content: [{ type: "text", text: "hi" }] }),
  });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_plain")).toEqual({ content: "hi" });
});
