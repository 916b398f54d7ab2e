// A failed action reports its error, and the next action runs.

import { expect } from "vitest";
import { answer } from "../../fakes/provider.ts";
import { setStage, test } from "./stage.ts";

const home = { communitySlug: "home" };

test("an action that fails has an error of its own, and the actions after it are done", async ({ stage }) => {
  const thread = { action: "create_thread", ...home };
  stage.say([
    { action: "delete_everything", ...home },
    { ...thread, communitySlug: "elsewhere", title: "T", body: "B" },
    { ...thread, communitySlug: "Home", title: "T", body: "B" },
    { action: "comment", ...home, body: "where?" },
    { action: "comment", ...home, threadId: "no-such-thread", body: "hm" },
    { action: "comment", ...home, threadId: "..", body: "out of here" },
    { action: "comment", ...home, threadId: "a/../b?c#d", body: "a name of its own" },
    { action: "set_request_status", ...home, threadId: "x", status: "rejected" },
    { action: "request_thread_comments", ...home, threadId: "x" },
    { ...thread, title: "x".repeat(181), body: "B" },
    { ...thread, threadType: "SYSTEM", title: "T", body: "B" },
    { ...thread, title: "T" },
    { action: "dropped without a community" },
    { ...thread, title: "T", body: "done" },
  ]);
  const { result, results } = await stage.cycle();
  expect(result).toMatchObject({ ok: true, actionCount: 13 });
  expect(result.actions.map((each: { error?: string }) => each.error)).toEqual([
    "Unknown action",
    "Community not in context",
    "Community not in context",
    "threadId is missing: give the id of a thread",
    "Thread not found",
    "Thread not found",
    "Thread not found",
    "status must be 'pending' or 'resolved'",
    "Unknown action",
    "title must be 180 characters or fewer",
    "SYSTEM threads cannot be created via agent API",
    "communityId, title, and body are required",
    undefined,
  ]);
  expect(result.actions.at(-1).result.thread).toMatchObject({ title: "T", body: "done" });
  expect(await stage.forum.query("select body from forum_thread")).toEqual([{ body: "done" }]);
  const calls = results.flatMap(({ payload }) =>
    payload.case === "toolCallStarted" || payload.case === "toolCallCompleted" ? [payload.value.toolCallId] : [],
  );
  expect(calls).toEqual(result.actions.flatMap((_: unknown, index: number) => Array(2).fill(`action.${index + 1}`)));
});

test("an agent without a community and one with an invalid token fail their cycle, and an unknown agent is not found", async () => {
  const stage = await setStage();
  const lonely = await stage.forum.addAgent("lonely", {});
  const more = await setStage({
    databaseUrl: stage.forum.service.databaseUrl,
    decisionsAgents: [
      { agent: lonely.id, key: lonely.token },
      { agent: stage.agent.id, key: `rnr_${"0".repeat(64)}` },
    ],
  });
  expect((await more.cycle(lonely.id)).result).toEqual({ ok: false, error: "No community assigned for this runner" });
  const refused = { ok: false, error: "Invalid or revoked runner credential" };
  expect((await more.cycle(stage.agent.id)).result).toEqual(refused);
  expect(await more.startCycle("nobody")).toMatchObject({ status: 404, body: { reason: "AGENT_NOT_FOUND" } });
  expect(more.provider.requests).toEqual([]);
});

test("an unreachable remote forum fails the cycle, and no model is called", async () => {
  const stage = await setStage({}, { remote: true });
  stage.say([]);
  expect((await stage.cycle()).result).toEqual({ ok: true, cycleCount: 1, actionCount: 0, actions: [] });
  await stage.forum.service.close();
  expect((await stage.cycle()).result).toEqual({ ok: false, error: "the community cannot be reached: ECONNREFUSED" });
  expect(stage.provider.requests).toHaveLength(1);
});

test("texts of others enter the prompt unchanged, with all patterns in them", async ({ stage }) => {
  const body = "$& $` $' $1 $$ {{context}} \\ \u2028 </script>";
  stage.say({ action: "create_thread", ...home, title: "odd", body }, []);
  await stage.cycle();
  await stage.cycle();
  expect(stage.shown(1).context.communities[0].threads[0].body).toBe(body);
});

test("with the newer actions an agent gets the comments that it requested, and may post jokes", async () => {
  const stage = await setStage({ decisionsNewerActions: true });
  stage.say({ action: "create_thread", ...home, title: "T", body: "B" });
  const threadId = (await stage.cycle()).result.actions[0].result.thread.id;
  expect(stage.shown(0).system).toContain("request_thread_comments");
  stage.say(
    [
      { action: "comment", ...home, threadId, body: "knock knock", commentKind: "JOKE" },
      { action: "request_thread_comments", ...home, threadId, commentLimit: 5 },
      { action: "request_contract_source", ...home, contractId: "none" },
    ],
    [],
  );
  const { result } = await stage.cycle();
  expect(result.actions.map((each: { result?: object; error?: string }) => each.result ?? each.error)).toEqual([
    { comment: expect.objectContaining({ kind: "JOKE" }) },
    { queued: true },
    "Contract not found in assigned community.",
  ]);
  await stage.cycle();
  expect(stage.shown(2).context.runnerInbox).toEqual([
    {
      type: "thread_comments_feedback",
      communitySlug: "home",
      threadId,
      commentLimit: 5,
      result: expect.objectContaining({ thread: expect.objectContaining({ id: threadId }), commentLimit: 5 }),
    },
    {
      type: "contract_source_feedback",
      communitySlug: "home",
      contractId: "none",
      contractAddress: null,
      result: { error: "Contract not found in assigned community." },
    },
  ]);
});

test("a second start is skipped while a cycle is under way, on the same replica and on another one", async () => {
  const stage = await setStage();
  const twin = await setStage({
    databaseUrl: stage.service.databaseUrl,
    openaiBaseUrl: stage.provider.baseUrl,
    decisionsAgents: [{ agent: stage.agent.id, key: stage.agent.token }],
  });
  const gate = Promise.withResolvers<void>();
  stage.provider.respond(async (wire, request) => {
    await gate.promise;
    await answer("[]")(wire, request);
  });
  const starts = await Promise.all(
    Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? stage : twin).startCycle(stage.agent.id)),
  );
  const started = starts.filter(({ body }) => body.run_id !== undefined);
  expect(started).toHaveLength(1);
  const skipped = { skipped: true, reason: "Runner cycle already in-flight" };
  expect(starts.filter((each) => each !== started[0]).map(({ body }) => body)).toEqual(Array(11).fill(skipped));
  gate.resolve();
  const [first] = started;
  expect((await stage.followCycle(first?.body.run_id)).result).toMatchObject({ ok: true, cycleCount: 1 });
  stage.say([]);
  expect((await stage.cycle()).result).toMatchObject({ ok: true, cycleCount: 2 });
});
