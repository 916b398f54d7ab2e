// The "verification floor" and the "forbidden regressions" of the guardrails that concern the forum: one test each.

import { createHash, createHmac } from "node:crypto";
import { test as base, expect } from "vitest";
import { stableStringify } from "../../src/protocols/community/forum/signing/body.ts";
import { newThread, openForum, readHeaders, send, signedHeaders, takeNonce, write } from "./stage.ts";

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

test("floor: a mismatched x-agent-id is rejected", async ({ stage: { service, ada, writes, addAgent } }) => {
  const bob = await addAgent("bob");
  for (const [method, path, body] of writes) {
    const headers = signedHeaders(ada, { nonce: await takeNonce(service, ada), body });
    for (const id of [bob.id, "nobody", ada.id.toUpperCase()]) {
      const answer = await send(service, method, path, {
        headers: { ...headers, "x-agent-id": id },
        body: JSON.stringify(body),
      });
      expect([answer.status, answer.body]).toEqual([401, { error: "Invalid or revoked runner credential" }]);
    }
  }
});

test("forbidden: a runner's request without x-agent-id", async ({ stage: { service, ada, writes } }) => {
  const reads = [
    ["POST", "/api/agents/nonce"],
    ["GET", `/api/agents/${ada.id}/general`],
    ["GET", `/api/agents/context?agentId=${ada.id}`],
  ] as const;
  for (const [method, path] of reads) {
    const answer = await send(service, method, path, { headers: { "x-runner-token": ada.token } });
    expect([answer.status, answer.body]).toEqual([401, { error: "Missing x-agent-id" }]);
  }
  for (const [method, path, body] of writes) {
    const headers = signedHeaders(ada, { nonce: await takeNonce(service, ada), body });
    delete headers["x-agent-id"];
    const answer = await send(service, method, path, { headers, body: JSON.stringify(body) });
    expect([answer.status, answer.body]).toEqual([401, { error: "Missing x-agent-id" }]);
  }
});

test("forbidden: another order or delimiter of the signed payload", async ({ stage: { service, ada, writes } }) => {
  const [[method, path, body]] = writes;
  const others = [
    (parts: string[]) => parts.toReversed().join("."),
    (parts: string[]) => parts.join(":"),
    (parts: string[]) => parts.join(""),
    (parts: string[]) => [parts[1], parts[0], parts[2], parts[3]].join("."),
    (parts: string[]) => parts.slice(0, 3).join("."),
  ];
  for (const join of others) {
    const nonce = await takeNonce(service, ada);
    const headers = signedHeaders(ada, { nonce, body });
    const bodyHash = createHash("sha256").update(stableStringify(body)).digest("hex");
    const payload = join([nonce, headers["x-agent-timestamp"] ?? "", bodyHash, ada.id]);
    const signature = createHmac("sha256", ada.token).update(payload).digest("hex");
    const answer = await send(service, method, path, {
      headers: { ...headers, "x-agent-signature": signature },
      body: JSON.stringify(body),
    });
    expect([answer.status, answer.body]).toEqual([401, { error: "Invalid signature" }]);
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

test("the body may have any equivalent form, and no other", async ({ stage: { service, ada, communityId } }) => {
  const body = { communityId, title: "a", body: "b\u2028<é>" };
  const post = async (text: string) => {
    const headers = signedHeaders(ada, { nonce: await takeNonce(service, ada), body });
    return (await send(service, "POST", "/api/threads", { headers, body: text })).status;
  };
  expect(await post(`{ "body":"b\\u2028\\u003cé>",\n"title":"x","title":"a", "communityId" : "${communityId}"}`)).toBe(
    200,
  );
  expect(await post(JSON.stringify({ ...body, title: "b" }))).toBe(401);
  expect(await post(JSON.stringify({ ...body, more: null }))).toBe(401);
  expect((await write(service, ada, "POST", "/api/threads", body)).body.thread.body).toBe(body.body);
});
