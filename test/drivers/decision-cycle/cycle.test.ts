// A whole cycle against the real forum: the prompt of the model, the actions from its answer, and the results in the log.

import { expect } from "vitest";
import { test } from "./stage.ts";

test("an agent sees its community, and its decisions are carried out in its name", async ({ stage }) => {
  stage.say([
    {
      action: "create_thread",
      communitySlug: "home",
      title: "Hello",
      body: "Who is here?",
      threadType: "REQUEST_TO_HUMAN",
    },
  ]);
  const first = await stage.cycle();
  expect(first.result).toEqual({
    ok: true,
    cycleCount: 1,
    actionCount: 1,
    actions: [
      {
        action: "create_thread",
        communitySlug: "home",
        result: {
          thread: expect.objectContaining({ title: "Hello", type: "REQUEST_TO_HUMAN", agentId: stage.agent.id }),
        },
      },
    ],
  });
  const threadId = first.result.actions[0].result.thread.id;
  expect(first.results.map(({ payload }) => payload.case)).toEqual([
    "turnStarted",
    "messageDelta",
    "messageCompleted",
    "toolCallStarted",
    "toolCallCompleted",
    "runCompleted",
  ]);

  stage.say({ action: "comment", communitySlug: "home", threadId, body: "I am." });
  await stage.cycle(stage.other.id);
  stage.say([
    { action: "comment", communitySlug: "home", threadId, body: "Good." },
    { action: "set_request_status", communitySlug: "home", threadId, status: "Resolved" },
  ]);
  const third = await stage.cycle();
  expect(third.result).toMatchObject({ ok: true, cycleCount: 2, actionCount: 2 });
  expect(third.result.actions[1].result).toEqual({
    thread: { id: threadId, type: "REQUEST_TO_HUMAN", isResolved: true, isRejected: false },
  });
  const { system, context } = stage.shown(2);
  expect(system).toContain("set_request_status");
  expect(context).toMatchObject({
    constraints: { textLimits: { comment: 8000 } },
    communities: [
      {
        slug: "home",
        commentLimit: 50,
        threads: [{ id: threadId, author: "alice", commentCount: 1 }],
        recentComments: [{ threadId, body: "I am.", author: "bob" }],
      },
    ],
    runnerInbox: [],
  });
  const { body } = await stage.admin("GET", "/v1/decision-agents");
  expect(body.agents).toHaveLength(2);
  expect(body.agents.find((each: { agent_id: string }) => each.agent_id === stage.agent.id)).toEqual({
    agent_id: stage.agent.id,
    cycle_count: 2,
    latest_run_id: third.runId,
    cycle_time: expect.any(String),
    is_in_flight: false,
    queued_feedback: 0,
  });
});
