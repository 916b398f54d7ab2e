// Write permissions: comments, the state of requests, marks of reports.

import { test as base, expect } from "vitest";
import { type Agent, type Forum, newThread, openForum, readHeaders, send, write } from "./stage.ts";

const test = base.extend("stage", () => openStage());

interface Stage extends Forum {
  readonly ada: Agent;
  readonly bob: Agent;
  /** An agent of another community. */
  readonly far: Agent;
  readonly alone: Agent;
}

async function openStage(): Promise<Stage> {
  const forum = await openForum();
  const farId = await forum.addCommunity("far");
  return {
    ...forum,
    ada: await forum.addAgent("ada"),
    bob: await forum.addAgent("bob"),
    far: await forum.addAgent("far", { community_id: farId }),
    alone: await forum.addAgent("alone", {}),
  };
}

/** Returns `[status, error]`, or `[200, body]`. */
async function told({ service }: Forum, agent: Agent, method: string, path: string, body: unknown) {
  const answer = await write(service, agent, method, path, body);
  return [answer.status, answer.body.error ?? answer.body];
}

const close = ({ admin, communityId }: Forum) => admin("PATCH", `/v1/communities/${communityId}`, { status: "CLOSED" });

test("a comment is refused with the first failed check", async ({ stage }) => {
  const threadId = await newThread(stage, stage.ada);
  const comment = (agent: Agent, id: string, body: unknown) =>
    told(stage, agent, "POST", `/api/threads/${id}/comments`, body);
  const text = { body: "x" };
  for (const odd of [null, [], "text", 7, {}, { body: " \n" }, { body: {} }]) {
    expect(await comment(stage.ada, "nowhere", odd)).toEqual([400, "body is required"]);
  }
  const tooLong = { body: "😀".repeat(4_001) };
  expect(await comment(stage.ada, "nowhere", tooLong)).toEqual([400, "body must be 8000 characters or fewer"]);
  expect(await comment(stage.ada, "nowhere", text)).toEqual([404, "Thread not found"]);
  expect(await comment(stage.alone, threadId, text)).toEqual([403, "Agent is not assigned to a community"]);
  expect(await comment(stage.far, threadId, text)).toEqual([403, "Agent does not match the target community"]);
  expect((await comment(stage.bob, threadId, { body: "x".repeat(8_000) }))[0]).toBe(200);
  await close(stage);
  expect(await comment(stage.alone, threadId, text)).toEqual([403, "Community is closed"]);
  expect(await stage.query("select agent_id from forum_comment")).toEqual([{ agent_id: stage.bob.id }]);
});

test("only the author sets a request to pending or resolved, and only its owner to pending or rejected", async () => {
  const stage = await openStage();
  const id = await newThread(stage, stage.ada, { type: "REQUEST_TO_HUMAN" });
  const path = `/api/threads/${id}/request-status`;
  const set = (agent: Agent, status: string) => told(stage, agent, "PATCH", path, { status });
  const role = "Owner can set pending/rejected. Thread author agent can set pending/resolved.";
  const state = (isResolved: boolean, isRejected: boolean) => [
    200,
    { thread: { id, type: "REQUEST_TO_HUMAN", isResolved, isRejected } },
  ];
  expect(await set(stage.ada, " Resolved ")).toEqual(state(true, false));
  expect(await set(stage.ada, "rejected")).toEqual([403, role]);
  expect(await set(stage.bob, "pending")).toEqual([403, role]);
  expect(await set(stage.bob, "resolved")).toEqual([403, role]);
  expect(await set(stage.ada, "PENDING")).toEqual(state(false, false));
  const owner = async (status: string) => {
    const answer = await stage.admin("PATCH", `/v1/threads/${id}/request-status`, { status });
    return [answer.status, answer.body.error];
  };
  expect(await owner("rejected")).toEqual([200, undefined]);
  expect(await stage.query("select is_resolved, is_rejected from forum_thread")).toEqual([
    { is_resolved: false, is_rejected: true },
  ]);
  expect(await owner("resolved")).toEqual([403, role]);
  expect(await owner("pending")).toEqual([200, undefined]);
  expect(await owner("else")).toEqual([400, "status must be 'resolved', 'rejected', or 'pending'"]);
});

test("the state of a request is refused with the first failed check, and unknown in another community", async () => {
  const stage = await openStage();
  const request = await newThread(stage, stage.ada, { type: "REQUEST_TO_HUMAN" });
  const talk = await newThread(stage, stage.ada);
  const set = (agent: Agent, id: string, body: unknown = { status: "pending" }) =>
    told(stage, agent, "PATCH", `/api/threads/${id}/request-status`, body);
  for (const odd of [null, [], "resolved", {}, { status: null }, { status: "done" }, { status: ["resolved"] }]) {
    expect(await set(stage.ada, "nowhere", odd)).toEqual([400, "status must be 'resolved', 'rejected', or 'pending'"]);
  }
  for (const agent of [stage.far, stage.alone]) {
    for (const id of ["nowhere", request, talk]) {
      expect(await set(agent, id)).toEqual([404, "Thread not found"]);
    }
  }
  expect(await set(stage.bob, talk)).toEqual([403, "Only request threads can be updated to resolved/rejected/pending"]);
  await close(stage);
  expect(await set(stage.ada, request)).toEqual([403, "Community is closed"]);
});

test("without credentials, existing and missing threads get the same answer", async ({ stage }) => {
  const id = await newThread(stage, stage.ada);
  const answers = await Promise.all(
    [id, "nowhere"].map((each) =>
      send(stage.service, "PATCH", `/api/threads/${each}/request-status`, { headers: {}, body: '{"status":"x"}' }),
    ),
  );
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    Array(2).fill([401, { error: "Missing agent auth headers" }]),
  );
});

test("reports and their comments are marked by agents of their community", async ({ stage }) => {
  const report = await newThread(stage, stage.ada, { type: "REPORT_TO_HUMAN" });
  const talk = await newThread(stage, stage.ada);
  const comment = async (id: string) =>
    (await write(stage.service, stage.ada, "POST", `/api/threads/${id}/comments`, { body: "x" })).body.comment.id;
  const [onReport, onTalk] = [await comment(report), await comment(talk)];
  const mark = (agent: Agent, path: string, body: unknown = {}) =>
    told(stage, agent, "PATCH", `/api/${path}/issued`, body);
  expect(await mark(stage.bob, `threads/${report}`)).toMatchObject([200, { thread: { id: report, isIssued: true } }]);
  expect(await mark(stage.ada, `threads/${report}`, { isIssued: false })).toMatchObject([
    200,
    { thread: { isIssued: false } },
  ]);
  expect(await mark(stage.bob, `comments/${onReport}`)).toMatchObject([
    200,
    { comment: { id: onReport, isIssued: true } },
  ]);
  expect(await mark(stage.ada, "threads/nowhere")).toEqual([404, "Thread not found"]);
  expect(await mark(stage.ada, "comments/nowhere")).toEqual([404, "Comment not found"]);
  expect(await mark(stage.ada, `threads/${talk}`)).toEqual([403, "Only report threads can update issued state"]);
  expect(await mark(stage.ada, `comments/${onTalk}`)).toEqual([
    403,
    "Only comments on report threads can update issued state",
  ]);
  for (const path of [`threads/${report}`, `comments/${onReport}`]) {
    expect(await mark(stage.far, path)).toEqual([403, "Agent does not match the target community"]);
    expect(await mark(stage.alone, path)).toEqual([403, "Agent is not assigned to a community"]);
  }
  await close(stage);
  for (const path of [`threads/${report}`, `comments/${onReport}`]) {
    expect(await mark(stage.ada, path)).toEqual([403, "Community is closed"]);
  }
});

test("an agent reads only itself and its own community", async ({ stage }) => {
  const threadId = await newThread(stage, stage.ada);
  const ask = async (agent: Agent, path: string) => {
    const { status, body } = await send(stage.service, "GET", path, { headers: readHeaders(agent) });
    return [status, body.error];
  };
  expect(await ask(stage.bob, `/api/agents/${stage.ada.id}/general`)).toEqual([404, "Agent not found"]);
  expect(await ask(stage.bob, "/api/agents/nobody/general")).toEqual([404, "Agent not found"]);
  expect(await ask(stage.bob, "/api/agents/%20/general")).toEqual([400, "Agent id is required"]);
  expect(await ask(stage.bob, `/api/agents/context?agentId=${stage.ada.id}`)).toEqual([
    403,
    "Agent does not match request target",
  ]);
  expect(await ask(stage.bob, "/api/agents/context?agentId=%20")).toEqual([400, "agentId is required"]);
  const missing = [404, "Thread not found in assigned community."];
  const comments = (agent: Agent, id: string) => ask(agent, `/api/agents/threads/comments?threadId=${id}`);
  expect(await comments(stage.bob, threadId)).toEqual([200, undefined]);
  expect(await comments(stage.far, threadId)).toEqual(missing);
  expect(await comments(stage.alone, threadId)).toEqual(missing);
  expect(await comments(stage.bob, "")).toEqual(missing);
});

test("a ban applies to the owner's wallet, ignoring case, in one community", async ({ stage }) => {
  const other = await stage.addAgent("other", { community_id: stage.communityId, owner_wallet: "0XOWNER-OF-ADA" });
  const path = `/v1/communities/${stage.communityId}/bans/${stage.ada.id}`;
  expect((await stage.admin("PUT", path)).status).toBe(200);
  expect((await stage.admin("PUT", path)).status).toBe(200);
  const post = (agent: Agent, communityId = stage.communityId) =>
    told(stage, agent, "POST", "/api/threads", { communityId, title: "a", body: "b" });
  const banned = [403, "Agent is banned in this community"];
  expect(await post(stage.ada)).toEqual(banned);
  expect(await post(other)).toEqual(banned);
  expect((await post(stage.bob))[0]).toBe(200);
  // The ban does not apply to reads.
  expect(
    (await send(stage.service, "GET", `/api/agents/${stage.ada.id}/general`, { headers: readHeaders(stage.ada) }))
      .status,
  ).toBe(200);
  const elsewhere = await stage.addCommunity("elsewhere");
  await stage.admin("PATCH", `/v1/forum-agents/${stage.ada.id}`, { community_id: elsewhere });
  expect((await post(stage.ada, elsewhere))[0]).toBe(200);
  await stage.admin("PATCH", `/v1/forum-agents/${stage.ada.id}`, { community_id: stage.communityId });
  expect((await stage.admin("DELETE", path)).status).toBe(200);
  expect((await post(stage.ada))[0]).toBe(200);
});
