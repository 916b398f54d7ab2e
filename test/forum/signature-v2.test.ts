// Version 2 of the signature: the token is never sent, and a signature is valid for one request only.

import { expect } from "vitest";
import { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import { deriveKey } from "../../src/protocols/community/forum/signing/signature.ts";
import {
  type Agent,
  boundHeaders,
  callForum,
  type Forum,
  newThread,
  proofOf,
  readHeaders,
  send,
  signedHeaders,
  takeNonce,
  test,
} from "./stage.ts";

async function takeNonceSigned({ service }: Forum, agent: Agent, keyId?: string) {
  const request = { method: "POST", target: "/api/agents/nonce", ...(keyId !== undefined && { keyId }) };
  return await send(service, "POST", "/api/agents/nonce", { headers: boundHeaders(agent, request) });
}

test("an agent reads, takes nonces and writes without ever sending its token", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  await forum.admin("PATCH", `/v1/forum-agents/${ada.id}`, { requires_signature_v2: true });
  const { nonce } = (await takeNonceSigned(forum, ada)).body;
  const body = JSON.stringify({ communityId: forum.communityId, title: "a", body: "b" });
  const target = "/api/threads";
  const headers = boundHeaders(ada, { nonce, method: "POST", target, body });
  expect(JSON.stringify(headers)).not.toContain(ada.token);
  expect((await send(forum.service, "POST", target, { headers, body })).status).toBe(200);
  expect((await send(forum.service, "POST", target, { headers, body })).body).toEqual({
    error: "Invalid or expired nonce",
  });
  for (const path of [`/api/agents/${ada.id}/general`, `/api/agents/context?agentId=${ada.id}&commentLimit=5`]) {
    const signed = boundHeaders(ada, { method: "GET", target: path });
    expect((await send(forum.service, "GET", path, { headers: signed })).status).toBe(200);
  }
});

test("a token is refused for an agent that must sign with version 2", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const nonce = await takeNonce(forum.service, ada);
  await forum.admin("PATCH", `/v1/forum-agents/${ada.id}`, { requires_signature_v2: true });
  const body = { communityId: forum.communityId, title: "a", body: "b" };
  const refused = { error: "Signature version 2 is required for this agent" };
  const headers = signedHeaders(ada, { nonce, body });
  const answer = await send(forum.service, "POST", "/api/threads", { headers, body: JSON.stringify(body) });
  expect([answer.status, answer.body]).toEqual([401, refused]);
  const read = await send(forum.service, "GET", `/api/agents/${ada.id}/general`, { headers: readHeaders(ada) });
  expect([read.status, read.body]).toEqual([401, refused]);
  expect(await forum.query("select use_time from agent_nonce where nonce = $1", [nonce])).toEqual([{ use_time: null }]);
});

test("a signature is bound to method, path, query, bytes, time and nonce", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const [one, other] = [await newThread(forum, ada), await newThread(forum, ada)];
  const target = `/api/threads/${one}/comments`;
  const body = '{"body":"x"}';
  const nonce = (await takeNonceSigned(forum, ada)).body.nonce;
  const headers = boundHeaders(ada, { nonce, method: "POST", target, body });
  const attempts: [path: string, headers: Record<string, string>, body: string][] = [
    [`/api/threads/${other}/comments`, headers, body],
    [`${target}?key_id=`, headers, body],
    [target, headers, '{ "body":"x"}'],
    [target, boundHeaders(ada, { nonce, method: "PATCH", target, body }), body],
    [target, { ...headers, "x-agent-timestamp": String(Number(headers["x-agent-timestamp"]) + 1) }, body],
    [target, { ...headers, "x-agent-signature-version": "1", "x-runner-token": ada.token }, body],
  ];
  for (const [path, sent, text] of attempts) {
    const answer = await send(forum.service, "POST", path, { headers: sent, body: text });
    expect([answer.status, answer.body]).toEqual([401, { error: "Invalid signature" }]);
  }
  expect((await send(forum.service, "POST", target, { headers, body })).status).toBe(200);
});

test("after a rotation the old key stays valid for the overlap, the old token does not", async ({ forum }) => {
  const before = await forum.addAgent("ada");
  const path = `/v1/forum-agents/${before.id}/credentials`;
  const next = (await forum.admin("POST", `${path}?overlap_seconds=60`)).body;
  const after = { id: before.id, token: next.runnerToken };
  const [oldKey, newKey] = [deriveKey(before.token).id, deriveKey(after.token).id];
  const gone = [401, { error: "Invalid or revoked runner credential" }];
  const told = async (agent: Agent, keyId?: string) => {
    const { status, body } = await takeNonceSigned(forum, agent, keyId);
    return status === 200 ? 200 : [status, body];
  };
  expect(await told(after)).toBe(200);
  expect(await told(after, newKey)).toBe(200);
  expect(await told(before, oldKey)).toBe(200);
  // Without a key id the newest key is used.
  expect(await told(before)).toEqual([401, { error: "Invalid signature" }]);
  expect(await told(before, "another")).toEqual(gone);
  const byToken = await send(forum.service, "POST", "/api/agents/nonce", { headers: readHeaders(before) });
  expect([byToken.status, byToken.body]).toEqual(gone);
  await forum.query("update agent_credential set previous_until = now()");
  expect(await told(before, oldKey)).toEqual(gone);
  await forum.admin("POST", `${path}?overlap_seconds=60`);
  expect(await told(after, newKey)).toBe(200);
  await forum.admin("DELETE", path);
  expect(await told(after, newKey)).toEqual(gone);
});

test("version 2 requires timestamps of digits only, and an unknown version is refused", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const ask = async (headers: Record<string, string>) => {
    const { status, body } = await send(forum.service, "POST", "/api/agents/nonce", { headers });
    return [status, body.error];
  };
  const request = { method: "POST", target: "/api/agents/nonce" };
  for (const timestamp of [`${Date.now()}.0`, `+${Date.now()}`, "1e3", "abc"]) {
    expect(await ask(boundHeaders(ada, { ...request, timestamp }))).toEqual([400, "Invalid timestamp"]);
  }
  expect(await ask(boundHeaders(ada, { ...request, timestamp: "1760000000" }))).toEqual([401, "Timestamp expired"]);
  const headers = boundHeaders(ada, request);
  expect(await ask({ ...headers, "x-agent-signature-version": "3" })).toEqual([
    400,
    "x-agent-signature-version must be 1 or 2",
  ]);
  expect(await ask({ ...headers, "x-agent-signature": "" })).toEqual([401, "Missing agent auth headers"]);
  expect(await ask({ ...headers, "x-runner-token": "wrong" })).toEqual([401, "Invalid or revoked runner credential"]);
});

test("over gRPC the path of the REST request is signed, including the id", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const [one, other] = [await newThread(forum, ada), await newThread(forum, ada)];
  const { nonce } = (await takeNonceSigned(forum, ada)).body;
  const body = '{"body":"x"}';
  const headers = boundHeaders(ada, { nonce, method: "POST", target: `/api/threads/${one}/comments`, body });
  const call = (threadId: string) =>
    callForum(forum.service, ForumService.method.createComment, {
      ...proofOf(headers),
      threadId,
      document: { data: Buffer.from(body) },
    });
  expect(await call(other)).toMatchObject({ reason: "SIGNATURE_INVALID" });
  expect((await call(one)).answer.comment.threadId).toBe(one);
});
