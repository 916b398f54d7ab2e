// A2A agents as runners, over the whole service: the official SDK's server is the agent.

import { TaskState } from "@a2a-js/sdk";
import { afterAll, describe, expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openSession, send, short } from "../acp/stage.ts";
import { startA2aAgent } from "../fakes/a2a-agent.ts";
import { readLog } from "../fault/log-reader.ts";
import { test as base } from "../fixtures.ts";
import type { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { flagsOf, lineOf, secretKey } from "./stage.ts";

const agent = await startA2aAgent();
const quiet = await startA2aAgent({
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false, extensions: [] },
});
const old = await startA2aAgent({}, { isOld: true });
afterAll(() => {
  agent.close();
  quiet.close();
  old.close();
});

const flags = flagsOf(
  lineOf("fake", agent.origin),
  lineOf("polled", quiet.origin),
  lineOf("old", old.origin),
  lineOf("private", agent.origin, { clients: ["key/stranger"] }),
  lineOf("away", "http://127.0.0.1:1"),
);
const test = base.extend("service", () => startService(flags));

/** Runs messages of one session. Returns the log of the last one without its deltas. */
async function run(client: GrpcClient, messages: readonly string[], runner = "fake"): Promise<unknown[][]> {
  const sessionId = await openSession(client, { name: "a2a", runner });
  let results: RunResult[] = [];
  for (const message of messages) {
    results = await readLog(client, await send(client, sessionId, message));
  }
  return short(results).filter(([name]) => name !== "messageDelta");
}

/** Starts a run, and waits for a result of it. Returns its id. */
async function startUntil(client: GrpcClient, message: string, place: RunResult["payload"]["case"], runner = "fake") {
  const runId = await send(client, await openSession(client, { name: "a2a", runner }), message);
  for await (const { results } of client.stream(RunService.method.tailRun, { runId })) {
    if (results.some(({ payload }: RunResult) => payload.case === place)) {
      break;
    }
  }
  return runId;
}

const begins = ["turnStarted"];
const thinks = ["reasoningDelta", "Let me think."];
const says = (text: string) => [
  ["messageCompleted", text],
  ["runCompleted", "stop", text],
];

describe("an A2A agent", () => {
  test.for([
    ["fake", "talk", [begins, thinks, ...says("Hello, world.")]],
    ["polled", "talk", [begins, ...says("Hello, world.")]],
    ["old", "talk", [begins, thinks, ...says("Hello, world.")]],
    ["old", "message", [begins, ...says("No task.")]],
    ["fake", "status", [begins, ...says("Only a status.")]],
    ["fake", "message", [begins, ...says("No task.")]],
    ["polled", "message", [begins, ...says("No task.")]],
    ["fake", "revise", [begins, ...says("The end")]],
    [
      "fake",
      "files",
      [
        begins,
        ["artifactCreated", "image", undefined, "cG5n"],
        ["artifactCreated", "file", "a.txt", '{"url":"https://agents.example/a"}'],
        ...says('{"found":3}'),
      ],
    ],
    [
      "old",
      "files",
      [
        begins,
        ["artifactCreated", "image", undefined, "cG5n"],
        ["artifactCreated", "file", "a.txt", '{"url":"https://agents.example/a"}'],
        ...says('{"found":3}'),
      ],
    ],
    ["old", "fail", [begins, ["runFailed", "runner.error", "no luck with [redacted]"]]],
    ["fake", "fail", [begins, ["runFailed", "runner.error", "no luck with [redacted]"]]],
    ["fake", "decline", [begins, ["runFailed", "rejected", "not my work"]]],
  ] as const)("%s: shows %s as results of the run", async ([runner, message, log], { client }) => {
    expect(await run(client, [message], runner)).toEqual(log);
  });

  test("has a long text in messages that a reader can take", async ({ client }) => {
    const whole = (await run(client, ["long"])).filter(([name]) => name === "messageCompleted");
    expect(whole.map(([, text]) => String(text).length)).toEqual([600_000, 600_000, 600_000]);
  });

  test("gets the headers of its settings with every request", async ({ client }) => {
    await run(client, ["talk"]);
    for (const method of ["card", "SendStreamingMessage"]) {
      expect(agent.headers.get(method)?.authorization).toBe(`Bearer ${secretKey}`);
    }
  });

  test("continues its context, unless the history was changed without it", async ({ client }) => {
    const [end] = (await run(client, ["talk", "remember"])).slice(-1);
    expect(end).toEqual(["runCompleted", "stop", '["talk","remember"]']);
    const sessionId = await openSession(client, { name: "a2a", runner: "fake" });
    await readLog(client, await send(client, sessionId, "talk"));
    const content = { case: "text", value: "By hand." } as const;
    await client.call(SessionService.method.addMessages, { sessionId, messages: [{ role: "assistant", content }] });
    const changed = await readLog(client, await send(client, sessionId, "remember"));
    const history = "The conversation so far:\n\nuser: talk\n\nassistant: Hello, world.\n\nassistant: By hand.";
    expect(short(changed).at(-1)?.[2]).toBe(JSON.stringify([history, "remember"]));
  });

  test.for([
    ["fake", agent],
    ["old", old],
  ] as const)(
    "asks a question, and the next message answers it in the same task: %s",
    async ([runner, { states }], { client }) => {
      const sessionId = await openSession(client, { name: "a2a", runner });
      const asked = short(await readLog(client, await send(client, sessionId, "ask")));
      expect(asked.at(-1)).toEqual(["runCompleted", "input_required", "Which one?"]);
      const tasks = states.length;
      const told = short(await readLog(client, await send(client, sessionId, "blue")));
      expect(told.at(-1)).toEqual(["runCompleted", "stop", "Blue it is."]);
      expect(states.slice(tasks)).toEqual([TaskState.TASK_STATE_COMPLETED]);
    },
  );

  test("waits for a login that takes place elsewhere", async ({ client }) => {
    const runId = await startUntil(client, "permit", "extension");
    agent.release();
    expect(short(await readLog(client, runId))).toEqual([
      begins,
      ["extension", "a2a.auth_required"],
      ...says("Thank you."),
    ]);
  });

  test.for([
    ["fake", agent],
    ["polled", quiet],
    ["old", old],
  ] as const)("has its task cancelled with the run: %s", async ([runner, { states }], { client }) => {
    const runId = await startUntil(client, "slow", "messageDelta", runner);
    await client.call(RunService.method.cancelRun, { runId });
    expect(short(await readLog(client, runId)).at(-1)).toEqual(["runFailed", "cancelled", "context canceled"]);
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
  });

  test.for([
    ["fake", agent, "SubscribeToTask"],
    ["old", old, "tasks/resubscribe"],
  ] as const)("loses its connection, and its text is whole: %s", async ([runner, server, method], { client }) => {
    const runId = await startUntil(client, "slow", "messageDelta", runner);
    server.cut();
    await until("the second stream", () => server.headers.has(method));
    server.release();
    expect(short(await readLog(client, runId)).at(-1)).toEqual(["runCompleted", "stop", "One, two."]);
  });

  test("that is away fails its run at once, and belongs to its clients", async ({ client }) => {
    expect(await run(client, ["talk"], "away")).toEqual([
      ["runFailed", "runner.unavailable", "the agent away is not available: connection refused"],
    ]);
    await expect(run(client, ["talk"], "private")).rejects.toThrow('there is no runner "private"');
  });
});
