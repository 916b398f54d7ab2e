// Requests and answers that are lost between the service and the community: nothing is done twice, and an unknown outcome is
// reported.

import { expect, test } from "vitest";
import { type Fate, openForumGate } from "./forum-gate.ts";
import { type Stage, setStage } from "./stage.ts";

const home = { communitySlug: "home" };
const interrupted = "interrupted: the action may have been executed, and is not repeated";

async function openLossy() {
  const stage = await setStage({ decisionsIntervalSeconds: 0 });
  const gate = await openForumGate(stage.forum.service.url);
  const lossy = await setStage({
    databaseUrl: stage.forum.service.databaseUrl,
    decisionsForumUrl: gate.url,
    openaiBaseUrl: stage.provider.baseUrl,
    decisionsAgents: [{ agent: stage.agent.id, key: stage.agent.token }],
  });
  stage.say({ action: "create_thread", ...home, title: "T", body: "B", threadType: "REQUEST_TO_HUMAN" });
  const threadId = String((await stage.cycle()).result.actions[0].result.thread.id);
  return { stage, gate, threadId, cycle: async () => await cycleOf(lossy, stage) };
}

async function cycleOf(lossy: Stage, stage: Stage) {
  return (await lossy.cycle(stage.agent.id)).result;
}

/** Applies each of these fates once, in order, to matching requests; all other requests pass. */
function onWrites(pattern: RegExp, ...fates: Fate[]) {
  return (request: string): Fate => (pattern.test(request) ? (fates.shift() ?? "pass") : "pass");
}

test("a comment whose answer was lost is found and not posted again", async () => {
  const { stage, gate, threadId, cycle } = await openLossy();
  // The same agent posted the same text before: that is another comment.
  const comment = { action: "comment", ...home, threadId, body: "again and again" };
  stage.say([comment], [comment, comment]);
  const first = await cycle();
  gate.decide(onWrites(/^POST .*comments$/, "lose-answer", "lose-request", "pass", "lose-answer"));
  const second = await cycle();
  expect(second.actions.map((each: { error?: string }) => each.error)).toEqual([undefined, undefined]);
  const ids = [...first.actions, ...second.actions].map(({ result }) => result.comment.id);
  expect(await stage.forum.query("select id from forum_comment order by id")).toEqual(ids.map((id) => ({ id })));
  expect(new Set(ids).size).toBe(3);
  // One nonce for each comment, however often it was sent.
  expect(gate.seen.filter((each) => each === "POST /api/agents/nonce")).toHaveLength(3);
});

test("a lost request is sent again; an action with an unknown outcome is reported and not repeated", async () => {
  const { stage, gate, threadId, cycle } = await openLossy();
  const status = { action: "set_request_status", ...home, threadId, status: "resolved" };
  stage.say(
    [status],
    [
      { ...status, status: "pending" },
      { action: "comment", ...home, threadId, body: "next" },
    ],
  );
  gate.decide(onWrites(/^PATCH/, "lose-request"));
  expect((await cycle()).actions).toMatchObject([{ result: { thread: { isResolved: true } } }]);
  gate.decide(onWrites(/^PATCH/, "lose-answer"));
  expect((await cycle()).actions).toMatchObject([{ error: interrupted }, { result: { comment: { body: "next" } } }]);
  expect(gate.seen.filter((each) => each.startsWith("PATCH"))).toHaveLength(4);
});

test("the error of a failing community is reported as it is, and the next action still runs", async () => {
  const { stage, gate, threadId, cycle } = await openLossy();
  const comment = { action: "comment", ...home, threadId, body: "hm" };
  const broken = { status: 502, body: "<html>" };
  stage.say([comment, comment, comment, comment]);
  let nonces = 0;
  let writes = 0;
  gate.decide((request) => {
    if (request === "POST /api/agents/nonce") {
      nonces += 1;
      return nonces === 1 ? { status: 429, body: '{"error":"Too many requests"}' } : nonces === 2 ? broken : "pass";
    }
    if (/^POST .*comments$/.test(request)) {
      writes += 1;
      return writes <= 3 ? broken : writes === 4 ? { status: 302, body: "{}" } : "pass";
    }
    return "pass";
  });
  expect((await cycle()).actions.map(({ error }: { error: string }) => error)).toEqual([
    "Too many requests",
    "the community answered 502",
    interrupted,
    "the community answered 302",
  ]);
  expect(await stage.forum.query("select id from forum_comment")).toEqual([]);
});

test.each([
  ["no JSON", { status: 200, body: "hello" }, "No community assigned for this runner"],
  ["a list", { status: 200, body: "[]" }, "No community assigned for this runner"],
  ["an error without words", { status: 500, body: "{}" }, "the community answered 500"],
  [
    "more than can be read",
    { status: 200, body: `"${"x".repeat(9 * 1_048_576)}"` },
    "the community's answer is larger than 8388608 bytes",
  ],
] as const)("a community that answers with %s fails the cycle and asks no model", async (_what, fate, error) => {
  const { stage, gate, cycle } = await openLossy();
  gate.decide(() => fate);
  expect(await cycle()).toEqual({ ok: false, error });
  expect(stage.provider.requests).toHaveLength(1);
});
