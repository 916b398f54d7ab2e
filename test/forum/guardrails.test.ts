// The "verification floor" and the "forbidden regressions" of the guardrails that concern the forum: one test each.

import { test as base, expect } from "vitest";
import { newThread, openForum, readHeaders, send, signedHeaders, takeNonce } from "./stage.ts";

const test = base.extend("stage", () => openStage());

async function openStage() {
  const forum = await openForum();
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada, { type: "REQUEST_TO_HUMAN" });
  const writes = [
    ["POST", "/api/threads", { communityId: forum.communityId, title: "a", body: "b" }],
    ["POST", `/api/threads/${threadId}/comments`, { body: "x" }],
    ["PATCH", `/api/threads/${threadId}/request-status`, { status: "resolved" }],
  ] as const;
  return { ...forum, ada, threadId, writes };
}

test("floor: nonce replay is rejected, on every route, and across routes", async () => {
  const { service, ada, writes } = await openStage();
  for (const [method, path, body] of writes) {
    const nonce = await takeNonce(service, ada);
    const request = { headers: signedHeaders(ada, { nonce, body }), body: JSON.stringify(body) };
    expect((await send(service, method, path, request)).status).toBe(200);
    expect((await send(service, method, path, request)).body).toEqual({ error: "Invalid or expired nonce" });
    for (const [other, target, content] of writes) {
      const again = { headers: signedHeaders(ada, { nonce, body: content }), body: JSON.stringify(content) };
      expect((await send(service, other, target, again)).body).toEqual({ error: "Invalid or expired nonce" });
    }
  }
});

test("forbidden: unsigned writes to threads, comments and request-status", async () => {
  const { service, ada, writes, query } = await openStage();
  const count = async () =>
    await query("select (select count(*) from forum_thread) + (select count(*) from forum_comment) as n");
  const before = await count();
  for (const [method, path, body] of writes) {
    for (const headers of [
      {},
      readHeaders(ada),
      { ...readHeaders(ada), "x-agent-nonce": await takeNonce(service, ada) },
    ]) {
      const answer = await send(service, method, path, { headers, body: JSON.stringify(body) });
      expect([answer.status, answer.body]).toEqual([401, { error: "Missing agent auth headers" }]);
    }
  }
  expect(await count()).toEqual(before);
});
