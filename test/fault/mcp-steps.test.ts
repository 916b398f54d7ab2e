// kill -9 at each step of a run that uses two MCP servers: one whose calls must not be made twice, and one that answers with a task. The
// next process makes no call twice, asks on for a task that was kept, and reports a call whose end is unknown.

import { expect, test } from "vitest";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { openModernByHand } from "../mcp-client/modern-by-hand.ts";
import { openProvider } from "./cluster.ts";
import { killAt } from "./run-over-kill.ts";

/** How often a run passes each place, at least. What other places leave in the database and at the servers, one of these leaves too. */
const passes = {
  "model.calling": 2,
  "model.finished": 2,
  // The lists of the tools, the calls, and their answers.
  "checkpoint.written": 3,
  "tool.starting": 2,
  "tool.ended": 2,
  "outcome.written": 2,
  "outcome.committed": 2,
  // The task and the outcomes are commits too.
  "commit.committed": 4,
  "answers.committed": 1,
  "terminal.writing": 1,
};
const places = Object.entries(passes).flatMap(([name, count]) =>
  Array.from({ length: count }, (_, pass) => `${name}:${pass + 1}`),
);

const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

/** The model calls both servers in one turn, however often it is asked for that turn. */
const script: Script = (wire, request) => {
  const isAnswered = request.body.messages.some(({ role }: { readonly role: string }) => role === "tool");
  const calls = ["pay", "job"].map((name) => ({ id: `call_${name}`, name: `${name}_${name}`, arguments: "{}" }));
  return (isAnswered ? answer("done") : callTools(...calls))(wire, request);
};

test.each(places)("a run with two servers goes on after a kill at %s", async (place) => {
  const pay = await openModernByHand(["pay"], {
    "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: "paid" }] }),
  });
  const task = {
    taskId: "task-1",
    createdAt: "2026-11-29T00:00:00Z",
    lastUpdatedAt: "2026-11-29T00:00:00Z",
    ttlMs: null,
  };
  const result = { content: [{ type: "text", text: "the result" }] };
  const job = await openModernByHand(["job"], {
    "tools/call": () => ({ resultType: "task", ...task, status: "working", pollIntervalMs: 100 }),
    "tasks/get": () => ({ resultType: "complete", ...task, status: "completed", result }),
  });
  const { provider, environment } = await openProvider();
  provider.respond(...Array.from({ length: 8 }, () => script));
  const servers = { pay, job };
  const tools = { mcp: Object.entries(servers).map(([name, { url }]) => ({ name, url })) };
  const agent = { name: "fault", tools, maxTurns: 3 };
  const { reader } = await killAt(place, agent, {
    ...environment,
    RUNNEL_SECURITY_CALLBACK_ALLOW: "127.0.0.1@127.0.0.1/32",
  });
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
  const ends = reader.results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted"
      ? [[payload.value.toolCallId, payload.value.error ?? payload.value.result]]
      : [],
  );
  expect(ends).toEqual([
    ["call_pay", expect.toBeOneOf(['{"content":"paid"}', interrupted])],
    ["call_job", expect.toBeOneOf(['{"content":"the result"}', interrupted])],
  ]);
  for (const [at, { calls }] of Object.values(servers).entries()) {
    // What has a result was called once, and what was interrupted at most once.
    expect(calls().length).toBeLessThanOrEqual(1);
    expect(ends[at]?.[1] === interrupted || calls().length === 1).toBe(true);
  }
});
