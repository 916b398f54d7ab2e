// Reads and writes of agents, over REST as documented and over gRPC.

import { expect } from "vitest";
import { ForumThread_Type } from "#gen/runnel/community/v1/forum_pb.js";
import { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import {
  callForum,
  newThread,
  openForum,
  proofOf,
  readHeaders,
  send,
  signedHeaders,
  takeNonce,
  test,
  write,
} from "./stage.ts";

const anyId = expect.stringMatching(/^[0-9a-f-]{36}$/);
const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("an agent writes a thread and a comment, and reads both in its context", async ({ forum }) => {
  const { service, communityId } = forum;
  const ada = await forum.addAgent("ada");
  const made = await write(service, ada, "POST", "/api/threads", {
    communityId,
    title: " Hello ",
    body: "World 😀",
    type: "request_to_human",
  });
  expect(made).toMatchObject({ status: 200 });
  expect(made.body).toEqual({
    thread: {
      id: anyId,
      agentId: ada.id,
      communityId,
      title: "Hello",
      body: "World 😀",
      type: "REQUEST_TO_HUMAN",
      isResolved: false,
      isRejected: false,
      isIssued: false,
      createdAt: anyTime,
    },
  });
  const { id } = made.body.thread;
  const comment = await write(service, ada, "POST", `/api/threads/${id}/comments`, { body: "First" });
  expect(comment.body).toEqual({
    comment: {
      id: anyId,
      threadId: id,
      agentId: ada.id,
      ownerWallet: null,
      body: "First",
      kind: "DISCUSSION",
      isIssued: false,
      createdAt: anyTime,
    },
  });
  await write(service, ada, "POST", `/api/threads/${id}/comments`, { body: "Ha", commentKind: "JOKE" });
  const context = await send(service, "GET", `/api/agents/context?agentId=${ada.id}&commentLimit=50`, {
    headers: readHeaders(ada),
  });
  expect(context.body).toEqual({
    context: {
      constraints: { textLimits: { threadTitle: 180, threadBody: 12_000, comment: 8_000, agentHandle: 40 } },
      communities: [
        {
          id: communityId,
          slug: "home",
          name: "The home",
          status: "ACTIVE",
          description: null,
          githubRepositoryUrl: null,
          chain: null,
          address: null,
          abi: null,
          contracts: [],
          commentLimit: 50,
          totalComments: 1,
          recentComments: [
            {
              id: comment.body.comment.id,
              threadId: id,
              threadTitle: "Hello",
              body: "First",
              createdAt: comment.body.comment.createdAt,
              author: "ada",
            },
          ],
          abiFunctions: [],
          threads: [
            {
              id,
              title: "Hello",
              type: "REQUEST_TO_HUMAN",
              body: "World 😀",
              createdAt: made.body.thread.createdAt,
              author: "ada",
              commentCount: 1,
            },
          ],
        },
      ],
    },
  });
  const comments = await send(service, "GET", `/api/agents/threads/comments?threadId=${id}`, {
    headers: readHeaders(ada),
  });
  expect(comments.body).toEqual({
    thread: { id, title: "Hello", type: "REQUEST_TO_HUMAN", createdAt: made.body.thread.createdAt },
    commentLimit: 20,
    comments: [
      { id: comment.body.comment.id, body: "First", createdAt: comment.body.comment.createdAt, author: "ada" },
    ],
  });
});

test("an agent reads its own profile, with null for a missing community", async ({ forum }) => {
  const ada = await forum.addAgent("ada", {
    community_id: forum.communityId,
    owner_wallet: "0xAbc",
    llm_provider: "OPENAI",
    llm_model: "gpt-4o-mini",
  });
  const bob = await forum.addAgent("bob", { community_id: "", owner_wallet: "" });
  const general = await send(forum.service, "GET", `/api/agents/${ada.id}/general`, { headers: readHeaders(ada) });
  expect(general.body).toEqual({
    agent: {
      id: ada.id,
      handle: "ada",
      ownerWallet: "0xAbc",
      llmProvider: "OPENAI",
      llmModel: "gpt-4o-mini",
      llmBaseUrl: null,
    },
    community: { id: forum.communityId, slug: "home", name: "The home", status: "ACTIVE" },
  });
  const alone = await send(forum.service, "GET", `/api/agents/${bob.id}/general`, { headers: readHeaders(bob) });
  expect(alone.body).toMatchObject({ agent: { ownerWallet: null }, community: null });
  const context = await send(forum.service, "GET", `/api/agents/context?agentId=${bob.id}`, {
    headers: readHeaders(bob),
  });
  expect(context.body.context.communities).toEqual([]);
});

test("a context has as many comments as requested: 0 by default and 200 at most", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada);
  await forum.query(
    `insert into forum_comment (id, thread_id, community_id, agent_id, body, kind)
     select 'c' || n, $1, $2, $3, 'text ' || n, 'DISCUSSION' from generate_series(1, 210) as n`,
    [threadId, forum.communityId, ada.id],
  );
  const countOf = async (limit: string) => {
    const path = `/api/agents/context?agentId=${ada.id}${limit}`;
    const { body } = await send(forum.service, "GET", path, { headers: readHeaders(ada) });
    const [community] = body.context.communities;
    expect(community.totalComments).toBe(210);
    return [community.commentLimit, community.recentComments.length];
  };
  expect(await countOf("")).toEqual([0, 0]);
  expect(await countOf("&commentLimit=")).toEqual([0, 0]);
  expect(await countOf("&commentLimit=2.9")).toEqual([2, 2]);
  expect(await countOf("&commentLimit=-1")).toEqual([50, 50]);
  expect(await countOf("&commentLimit=many")).toEqual([50, 50]);
  expect(await countOf("&commentLimit=1e9")).toEqual([200, 200]);
});

test("a context lists a community's contracts without source, which is requested by id or address", async () => {
  const forum = await openForum();
  const ada = await forum.addAgent("ada");
  const abi = [
    { type: "constructor", inputs: [] },
    { type: "function", name: "mint", stateMutability: "payable", inputs: [{ name: "to", type: "address" }] },
  ];
  const address = `0x${"aB".repeat(20)}`;
  const path = `/v1/communities/${forum.communityId}/contracts`;
  const wanted = {
    name: "Token",
    chain: "sepolia",
    address,
    abi,
    source: "contract Token {}",
    faucet_function: "mint",
  };
  const made = await forum.admin("POST", path, wanted);
  expect(made.status).toBe(201);
  const { id } = made.body;
  const context = await send(forum.service, "GET", `/api/agents/context?agentId=${ada.id}`, {
    headers: readHeaders(ada),
  });
  const functions = [{ name: "mint", stateMutability: "payable", inputs: [{ name: "to", type: "address" }] }];
  expect(context.body.context.communities[0]).toMatchObject({
    chain: "sepolia",
    address,
    abi,
    abiFunctions: functions,
  });
  expect(context.body.context.communities[0].contracts).toEqual([
    { id, name: "Token", chain: "sepolia", address, abi, faucetFunction: "mint", abiFunctions: functions },
  ]);
  const ask = (what: string) =>
    send(forum.service, "GET", `/api/agents/contracts/source${what}`, { headers: readHeaders(ada) });
  const source = { contract: { id, name: "Token", chain: "sepolia", address, abi, source: "contract Token {}" } };
  expect((await ask(`?contractId=${id}`)).body).toEqual(source);
  expect((await ask(`?contractAddress=${address.toLowerCase()}`)).body).toEqual(source);
  const refused = async (what: string) => {
    const { status, body } = await ask(what);
    return [status, body.error];
  };
  expect(await refused("")).toEqual([400, "contractId or contractAddress is required"]);
  expect(await refused(`?contractId=${id}&contractAddress=x`)).toEqual([
    400,
    "Provide either contractId or contractAddress, not both.",
  ]);
  expect(await refused("?contractId=none")).toEqual([404, "Contract not found in assigned community."]);
  const far = await forum.addCommunity("far");
  await forum.admin("PATCH", `/v1/forum-agents/${ada.id}`, { community_id: far });
  expect(await refused(`?contractId=${id}`)).toEqual([404, "Contract not found in assigned community."]);
  await forum.admin("PATCH", `/v1/forum-agents/${ada.id}`, { community_id: "" });
  expect(await refused("")).toEqual([403, "No community assigned for this runner."]);
});

test("a system thread has no text in a context, and takes no comments", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  await forum.query(
    "insert into forum_thread (id, community_id, title, body, type) values ('sys', $1, 'Welcome', 'x', 'SYSTEM')",
    [forum.communityId],
  );
  const { body } = await send(forum.service, "GET", `/api/agents/context?agentId=${ada.id}`, {
    headers: readHeaders(ada),
  });
  expect(body.context.communities[0].threads).toMatchObject([{ id: "sys", body: null, author: "system" }]);
  const comment = await write(forum.service, ada, "POST", "/api/threads/sys/comments", { body: "x" });
  expect([comment.status, comment.body]).toEqual([403, { error: "System threads do not allow comments" }]);
});

test("gRPC has the same behaviour and messages", async ({ forum }) => {
  const { service, communityId } = forum;
  const ada = await forum.addAgent("ada");
  const { createThread, createComment, getAgentContext, getAgentGeneral, issueAgentNonce } = ForumService.method;
  const reader = { runnerToken: ada.token, agentId: ada.id };
  const issue = async () => (await callForum(service, issueAgentNonce, reader)).answer.nonce as string;
  const body = { communityId, title: "Hi", body: "there" };
  const headers = signedHeaders(ada, { nonce: await issue(), body });
  const document = { data: Buffer.from(JSON.stringify(body)) };
  const made = await callForum(service, createThread, { ...proofOf(headers), document });
  expect(made.answer.thread).toMatchObject({ agentId: ada.id, title: "Hi", type: ForumThread_Type.DISCUSSION });
  expect(await callForum(service, createThread, { ...proofOf(headers), document })).toEqual({
    code: 16,
    reason: "NONCE_INVALID",
    message: "Invalid or expired nonce",
  });
  const comment = { body: "ok" };
  const proof = proofOf(signedHeaders(ada, { nonce: await issue(), body: comment }));
  const written = await callForum(service, createComment, {
    ...proof,
    threadId: made.answer.thread.id,
    document: { data: Buffer.from(JSON.stringify(comment)) },
  });
  expect(written.answer.comment).toMatchObject({ body: "ok", agentId: ada.id });
  const context = await callForum(service, getAgentContext, { ...reader, targetAgentId: ada.id, commentLimit: "5" });
  expect(context.answer.context.communities[0]).toMatchObject({ totalComments: 1, commentLimit: 5 });
  const general = await callForum(service, getAgentGeneral, { ...reader, id: "another" });
  expect(general).toEqual({ code: 5, reason: "AGENT_NOT_FOUND", message: "Agent not found" });
});

test("a nonce has the documented form, and is valid for two minutes", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const before = Date.now();
  const { status, body } = await send(forum.service, "POST", "/api/agents/nonce", { headers: readHeaders(ada) });
  expect(status).toBe(200);
  expect(body).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{32}$/), expiresAt: anyTime });
  expect(Math.abs(Date.parse(body.expiresAt) - before - 120_000)).toBeLessThan(60_000);
});

test("an agent gets 60 nonces at once and one more each second, then it has to wait", async () => {
  const forum = await openForum({ forumNoncesPerMinute: 60 });
  const ada = await forum.addAgent("ada");
  const bob = await forum.addAgent("bob");
  const ask = () => send(forum.service, "POST", "/api/agents/nonce", { headers: readHeaders(ada) });
  const startedMs = performance.now();
  let granted = 0;
  let answer = await ask();
  for (; answer.status === 200; answer = await ask()) {
    granted += 1;
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  expect([answer.status, answer.body]).toEqual([429, { error: "Too many requests" }]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(granted).toBeGreaterThanOrEqual(60);
  expect(granted).toBeLessThanOrEqual(61 + seconds);
  expect(await takeNonce(forum.service, bob)).toMatch(/^[0-9a-f]{32}$/);
});

test("a page of an allowed origin may send every header of a signed PATCH", async () => {
  const origin = "https://forum.test";
  const { service } = await openForum({ serverCorsOrigins: [origin] });
  const { headers, status } = await fetch(`${service.url}/api/threads/x/request-status`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "PATCH" },
  });
  expect(status).toBe(204);
  expect(headers.get("access-control-allow-methods")).toContain("PATCH");
  const allowed = headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
  expect(allowed).toEqual(
    expect.arrayContaining([
      "content-type",
      "x-runner-token",
      "x-agent-id",
      "x-agent-nonce",
      "x-agent-timestamp",
      "x-agent-signature",
      "x-agent-signature-version",
      "x-agent-key-id",
    ]),
  );
});
