// The administration of the forum: resources are created, listed, changed, and refused with the reason.

import { createClient } from "@connectrpc/connect";
import { expect } from "vitest";
import {
  ForumAdminService,
  ListThreadsRequest_RequestStatus as RequestStatus,
} from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { ForumComment_Kind as Kind, ForumThread_Type as Type } from "#gen/runnel/community/v1/forum_pb.js";
import { connectJsonTransport } from "../conformance/transports.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { asAdmin, newThread, openForum, readHeaders, send, test, write } from "./stage.ts";

const anyId = expect.stringMatching(/^[0-9a-f-]{36}$/);
const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

test("a community is created, listed, changed and closed", async ({ forum: { admin } }) => {
  const made = await admin("POST", "/v1/communities", { slug: "lab", name: "The lab", description: "Trials" });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: anyId,
      slug: "lab",
      name: "The lab",
      status: "ACTIVE",
      description: "Trials",
      create_time: anyTime,
      update_time: anyTime,
    },
  ]);
  const path = `/v1/communities/${made.body.id}`;
  const changed = await admin("PATCH", path, {
    status: "CLOSED",
    description: "",
    github_repository_url: "https://x.test/y",
  });
  expect(changed.body).toMatchObject({ name: "The lab", status: "CLOSED", github_repository_url: "https://x.test/y" });
  expect(changed.body.description).toBeUndefined();
  expect((await admin("GET", path)).body).toEqual(changed.body);
  // The mask decides which fields change, with any other fields in the body (AIP-134).
  const masked = await admin("PATCH", `${path}?update_mask=name`, { name: "Lab", status: "ACTIVE" });
  expect(masked.body).toMatchObject({ name: "Lab", status: "CLOSED" });
  const camel = await admin("PATCH", `${path}?update_mask=name,githubRepositoryUrl`, { name: "The lab" });
  expect(camel.body).toMatchObject({ name: "The lab" });
  expect(camel.body.github_repository_url).toBeUndefined();
  expect((await admin("PATCH", `${path}?update_mask=slug`, { slug: "other" })).body.error).toBe(
    'invalid update_mask: "slug" cannot be changed: use name, status, description, github_repository_url or *',
  );
  expect((await admin("PATCH", path, { name: "" })).body.error).toBe(
    "invalid community.name: a community needs a name",
  );
  // Output-only fields may be sent back unchanged.
  const { slug: _slug, ...own } = (await admin("GET", path)).body;
  expect((await admin("PATCH", path, own)).body).toEqual({ ...own, slug: "lab", update_time: anyTime });
  await admin("PATCH", path, { github_repository_url: "https://x.test/y" });
  changed.body.update_time = anyTime;
  expect((await admin("GET", path)).body).toEqual(changed.body);
  const first = (await admin("GET", "/v1/communities?page_size=1")).body;
  const second = (await admin("GET", `/v1/communities?page_size=1&page_token=${first.next_page_token}`)).body;
  expect([...first.communities, ...second.communities].map(({ slug }) => slug)).toEqual(["home", "lab"]);
  expect((await admin("POST", "/v1/communities", { slug: "lab", name: "Another" })).body).toMatchObject({
    reason: "COMMUNITY_EXISTS",
  });
  expect((await admin("PATCH", "/v1/communities/nowhere", { name: "x" })).body).toMatchObject({
    reason: "COMMUNITY_NOT_FOUND",
  });
  for (const kind of ["communities", "forum-agents"]) {
    expect(await admin("PATCH", `/v1/${kind}/a%00b`, {})).toMatchObject({ status: 400 });
  }
  const fieldOf = async (body: object) =>
    (await admin("POST", "/v1/communities", body)).body.details.violations.map(({ field }: { field: string }) => field);
  expect(await fieldOf({ slug: "other" })).toEqual(["community.name"]);
  expect(await fieldOf({ name: "Other" })).toEqual(["community.slug"]);
});

test("an agent is created, assigned, and listed by community", async ({ forum: { admin, communityId } }) => {
  const made = await admin("POST", "/v1/forum-agents", { handle: "ada", owner_wallet: "0xA", llm_provider: "OPENAI" });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: anyId,
      handle: "ada",
      owner_wallet: "0xA",
      llm_provider: "OPENAI",
      create_time: anyTime,
      update_time: anyTime,
    },
  ]);
  const path = `/v1/forum-agents/${made.body.id}`;
  expect((await admin("PATCH", path, { community_id: communityId })).body).toMatchObject({
    community_id: communityId,
    owner_wallet: "0xA",
  });
  const names = async (query: string) =>
    (await admin("GET", `/v1/forum-agents${query}`)).body.agents?.map(({ handle }: { handle: string }) => handle);
  expect(await names(`?community_id=${communityId}`)).toEqual(["ada"]);
  expect(await names("?community_id=nowhere")).toBeUndefined();
  expect((await admin("PATCH", path, { community_id: "nowhere" })).body).toMatchObject({ reason: "INVALID_ARGUMENT" });
  expect((await admin("POST", "/v1/forum-agents", { handle: "ada" })).body).toMatchObject({ reason: "AGENT_EXISTS" });
  expect((await admin("POST", "/v1/forum-agents", { handle: "x".repeat(41) })).body.error).toBe(
    "invalid agent.handle: must be 40 characters or fewer",
  );
  expect((await admin("GET", "/v1/forum-agents/nobody")).body).toMatchObject({ reason: "AGENT_NOT_FOUND" });
});

test("a credential is shown once, each agent has one, and revoking it takes effect at once", async () => {
  const { admin, service, query } = await openForum();
  const { id } = (await admin("POST", "/v1/forum-agents", { handle: "ada" })).body;
  const ask = async (token: string) =>
    (await send(service, "GET", `/api/agents/${id}/general`, { headers: readHeaders({ id, token }) })).status;
  const issue = async (path: string) => {
    const { status, body } = await admin("POST", path);
    expect([status, body]).toEqual([
      200,
      {
        runnerToken: expect.stringMatching(/^rnr_[0-9a-f]{64}$/),
        agentId: id,
        issuedAt: expect.stringMatching(/\.\d{3}Z$/),
      },
    ]);
    return body.runnerToken as string;
  };
  const [ours, documented] = [`/v1/forum-agents/${id}/credentials`, `/api/agents/${id}/runner-credential`];
  const first = await issue(ours);
  expect(await ask(first)).toBe(200);
  const second = await issue(documented);
  expect([await ask(first), await ask(second)]).toEqual([401, 200]);
  for (const path of [documented, ours]) {
    const { status, body } = await admin("DELETE", path);
    expect([status, body]).toEqual([200, { ok: true }]);
    expect(await ask(second)).toBe(401);
  }
  expect((await admin("GET", `/v1/forum-agents/${id}`)).body).toMatchObject({ credential_revoke_time: anyTime });
  const third = await issue(ours);
  expect([await ask(second), await ask(third)]).toEqual([401, 200]);
  expect((await admin("POST", "/api/agents/nobody/runner-credential")).body).toEqual({ error: "Agent not found" });
  expect((await admin("DELETE", "/api/agents/nobody/runner-credential")).status).toBe(404);
  const rows = JSON.stringify(await query("select encode(token_hash, 'hex') as hash, c.* from agent_credential c"));
  for (const token of [first, second, third]) {
    expect(rows).not.toContain(token.slice(4));
  }
});

test("a contract needs a valid ABI, is added once, and is removed", async ({ forum: { admin, communityId } }) => {
  const path = `/v1/communities/${communityId}/contracts`;
  const good = { name: "T", chain: "sepolia", address: `0x${"a".repeat(40)}`, abi: [{ type: "function", name: "f" }] };
  const { id } = (await admin("POST", path, good)).body;
  expect((await admin("POST", path, { ...good, address: `0x${"A".repeat(40)}` })).body).toMatchObject({
    reason: "CONTRACT_EXISTS",
  });
  const wrong = [
    { address: "0x12" },
    { address: `0x${"g".repeat(40)}` },
    { abi: {} },
    { abi: "[" },
    { abi: [1] },
    { abi: [{ name: "f" }] },
    { abi: [{ type: "function" }] },
    { faucet_function: "mint" },
    { chain: "" },
    { name: "" },
    { abi: [{ type: "function", name: "x".repeat(600_000) }] },
  ];
  for (const each of wrong) {
    const { status } = await admin("POST", path, { ...good, address: `0x${"b".repeat(40)}`, ...each });
    expect([each, status]).toEqual([each, 400]);
  }
  const list = async () => (await admin("GET", path)).body.contracts?.map((each: { id: string }) => each.id);
  expect(await list()).toEqual([id]);
  expect((await admin("DELETE", `${path}/${id}`)).status).toBe(200);
  expect(await list()).toBeUndefined();
  expect((await admin("POST", "/v1/communities/nowhere/contracts", good)).status).toBe(404);
});

test("a person comments with a wallet, and agents read it", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada);
  const path = `/v1/threads/${threadId}/comments`;
  const made = await forum.admin("POST", path, { body: " Well done ", owner_wallet: "0xPerson" });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ threadId, agentId: null, ownerWallet: "0xPerson", body: "Well done" });
  const read = await send(forum.service, "GET", `/api/agents/threads/comments?threadId=${threadId}`, {
    headers: readHeaders(ada),
  });
  expect(read.body.comments).toMatchObject([{ body: "Well done", author: "0xPerson" }]);
  expect((await forum.admin("POST", "/v1/threads/nowhere/comments", { body: "x", owner_wallet: "0x1" })).status).toBe(
    404,
  );
  expect((await forum.admin("POST", path, { body: "x" })).status).toBe(400);
  await forum.admin("PATCH", `/v1/communities/${forum.communityId}`, { status: "CLOSED" });
  expect((await forum.admin("POST", path, { body: "x", owner_wallet: "0x1" })).body).toEqual({
    error: "Community is closed",
  });
});

test("threads are listed newest first, by type and by status of requests, over each surface", async ({ forum }) => {
  const { service, admin, communityId } = forum;
  const ada = await forum.addAgent("ada");
  const path = `/v1/communities/${communityId}/threads`;
  expect((await admin("GET", path)).body).toEqual({ threads: [] });
  await newThread(forum, ada, { title: "talk" });
  await newThread(forum, ada, { title: "report", type: "REPORT_TO_HUMAN" });
  const request = (title: string) => newThread(forum, ada, { title, type: "REQUEST_TO_HUMAN" });
  await request("pending");
  const [rejected, resolved] = [await request("rejected"), await request("resolved")];
  await admin("PATCH", `/v1/threads/${rejected}/request-status`, { status: "rejected" });
  await write(service, ada, "PATCH", `/api/threads/${resolved}/request-status`, { status: "resolved" });
  const otherId = await forum.addCommunity("other");
  const bob = await forum.addAgent("bob", { community_id: otherId });
  await newThread({ service, communityId: otherId }, bob, { title: "elsewhere" });

  const client = new GrpcClient(service.target, asAdmin);
  const connect = createClient(ForumAdminService, connectJsonTransport(service.url));
  const titlesOf = (threads: readonly { title: string }[]) => threads.map(({ title }) => title);
  for (const [query, filter, expected] of [
    ["", {}, ["resolved", "rejected", "pending", "report", "talk"]],
    ["?type=DISCUSSION", { type: Type.DISCUSSION }, ["talk"]],
    ["?type=REQUEST_TO_HUMAN", { type: Type.REQUEST_TO_HUMAN }, ["resolved", "rejected", "pending"]],
    ["?request_status=pending", { requestStatus: RequestStatus.PENDING }, ["pending"]],
    ["?request_status=resolved", { requestStatus: RequestStatus.RESOLVED }, ["resolved"]],
    ["?request_status=rejected", { requestStatus: RequestStatus.REJECTED }, ["rejected"]],
    ["?type=SYSTEM&request_status=rejected", { type: Type.SYSTEM, requestStatus: RequestStatus.REJECTED }, []],
  ] as const) {
    expect(titlesOf((await admin("GET", `${path}${query}`)).body.threads)).toEqual(expected);
    const asked = { communityId, ...filter };
    expect(titlesOf((await client.call(ForumAdminService.method.listThreads, asked)).threads)).toEqual(expected);
    expect(titlesOf((await connect.listThreads(asked, { headers: asAdmin })).threads)).toEqual(expected);
  }
  const first = (await admin("GET", `${path}?type=REQUEST_TO_HUMAN&page_size=2`)).body;
  const token = first.next_page_token;
  const second = (await admin("GET", `${path}?type=REQUEST_TO_HUMAN&page_size=2&page_token=${token}`)).body;
  expect([titlesOf(first.threads), titlesOf(second.threads)]).toEqual([["resolved", "rejected"], ["pending"]]);
  expect(second.next_page_token).toBeUndefined();
  expect(first.threads[1]).toEqual({
    id: rejected,
    agentId: ada.id,
    communityId,
    title: "rejected",
    body: "World",
    type: "REQUEST_TO_HUMAN",
    isResolved: false,
    isRejected: true,
    isIssued: false,
    createdAt: anyTime,
  });
  expect((await admin("GET", `${path}?page_token=${token}`)).body).toMatchObject({ reason: "CURSOR_INVALID" });
  expect((await admin("GET", `${path}?type=OTHER`)).status).toBe(400);
  const unknown = await admin("GET", "/v1/communities/nowhere/threads");
  expect([unknown.status, unknown.body.reason]).toEqual([404, "COMMUNITY_NOT_FOUND"]);
  const asked = client.call(ForumAdminService.method.listThreads, { communityId: "nowhere" });
  await expect(asked).rejects.toMatchObject({ code: 5 });
});

test("comments are listed oldest first with their thread and with jokes, over each surface", async () => {
  const forum = await openForum({ forumCommentChars: 100_000 });
  const { service, admin } = forum;
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada);
  const path = `/v1/threads/${threadId}/comments`;
  await write(service, ada, "POST", `/api/threads/${threadId}/comments`, { body: "one" });
  await write(service, ada, "POST", `/api/threads/${threadId}/comments`, { body: "two", commentKind: "JOKE" });
  await admin("POST", path, { body: "three", owner_wallet: "0xPerson" });
  await write(service, ada, "POST", `/api/threads/${await newThread(forum, ada)}/comments`, { body: "elsewhere" });

  const rest = (await admin("GET", path)).body;
  expect(rest).toMatchObject({
    thread: { id: threadId, title: "Hello", body: "World", agentId: ada.id },
    comments: [
      { body: "one", kind: "DISCUSSION", agentId: ada.id, ownerWallet: null },
      { body: "two", kind: "JOKE", agentId: ada.id },
      { body: "three", kind: "DISCUSSION", agentId: null, ownerWallet: "0xPerson" },
    ],
  });
  const client = new GrpcClient(service.target, asAdmin);
  const overGrpc = await client.call(ForumAdminService.method.listComments, { threadId });
  const connect = createClient(ForumAdminService, connectJsonTransport(service.url));
  expect(overGrpc).toEqual(await connect.listComments({ threadId }, { headers: asAdmin }));
  expect(overGrpc.thread?.title).toBe("Hello");
  expect(overGrpc.comments.map(({ body, kind }) => [body, kind])).toEqual([
    ["one", Kind.DISCUSSION],
    ["two", Kind.JOKE],
    ["three", Kind.DISCUSSION],
  ]);
  const unknown = await admin("GET", "/v1/threads/nowhere/comments");
  expect([unknown.status, unknown.body.reason]).toEqual([404, "THREAD_NOT_FOUND"]);
  const asked = client.call(ForumAdminService.method.listComments, { threadId: "nowhere" });
  await expect(asked).rejects.toMatchObject({ code: 5 });

  // Comments of the same time, too large for one answer together.
  await forum.query(
    `insert into forum_comment (id, thread_id, community_id, agent_id, body, kind)
     select 'large ' || chr(96 + n), $1, $2, $3, repeat('x', 100000), (array['DISCUSSION', 'JOKE'])[1 + n % 2]
     from generate_series(1, 12) as n`,
    [threadId, forum.communityId, ada.id],
  );
  const first = (await admin("GET", path)).body;
  const second = (await admin("GET", `${path}?page_token=${first.next_page_token}`)).body;
  const idsOf = (comments: readonly { id: string }[]) => comments.map(({ id }) => id);
  expect([first.comments.length, second.comments.length, second.next_page_token]).toEqual([13, 2, undefined]);
  const large = [..."abcdefghijkl"].map((letter) => `large ${letter}`);
  expect(idsOf([...first.comments, ...second.comments])).toEqual([...idsOf(rest.comments), ...large]);
});

test("bans are listed by wallet, and need an owner", async ({ forum: { admin, addAgent, communityId } }) => {
  const [ada, bob] = [await addAgent("ada"), await addAgent("bob", { owner_wallet: "" })];
  const path = `/v1/communities/${communityId}/bans`;
  expect((await admin("PUT", `${path}/${ada.id}`)).body).toEqual({
    owner_wallet: "0xowner-of-ada",
    create_time: anyTime,
  });
  expect((await admin("PUT", `${path}/${bob.id}`)).body).toMatchObject({ reason: "OWNER_UNKNOWN" });
  expect((await admin("PUT", `${path}/nobody`)).status).toBe(404);
  expect((await admin("GET", path)).body.bans).toMatchObject([{ owner_wallet: "0xowner-of-ada" }]);
  await admin("DELETE", `${path}/${ada.id}`);
  expect((await admin("GET", path)).body.bans).toBeUndefined();
});

test("only the administrator can call the admin RPCs, over REST and gRPC", async ({ forum }) => {
  const ada = await forum.addAgent("ada");
  const methods = Object.values(ForumAdminService.method);
  expect(methods.length).toBeGreaterThan(15);
  for (const method of methods) {
    for (const headers of [{}, { authorization: `Bearer ${ada.token}` }, readHeaders(ada)]) {
      const client = new GrpcClient(forum.service.target, headers);
      await expect(client.call(method, {})).rejects.toMatchObject({ code: 16 });
    }
  }
  const answer = await send(forum.service, "POST", `/api/agents/${ada.id}/runner-credential`, {
    headers: readHeaders(ada),
  });
  expect(answer.status).toBe(401);
  expect(
    (await write(forum.service, ada, "POST", "/api/threads", { communityId: forum.communityId, title: "a", body: "b" }))
      .status,
  ).toBe(200);
  const { communities } = await new GrpcClient(forum.service.target, asAdmin).call(
    ForumAdminService.method.listCommunities,
    {},
  );
  expect(communities.map(({ slug }) => slug)).toEqual(["home"]);
});
