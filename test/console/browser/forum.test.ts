// An owner reads a community in the console, answers, decides about a request, and bans.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Agent, adminToken, type Forum, newThread, openForum, write } from "../../forum/stage.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";

const hostile = "<img src=x onerror=alert(1)>\u001b[31m";
const shownHostile = "<img src=x onerror=alert(1)>␛[31m";
const wide = { viewport: { width: 1280, height: 800 } };

function openStage(): Promise<Forum> {
  return openForum({ consoleEnabled: true, rateLimitRps: 0 });
}

async function comment({ service }: Forum, agent: Agent, threadId: string, body: string, commentKind = "DISCUSSION") {
  const { status } = await write(service, agent, "POST", `/api/threads/${threadId}/comments`, { body, commentKind });
  expect(status).toBe(200);
}

async function openAs(service: Forum["service"], path: string) {
  const opened = await openConsole(service.url, path, wide);
  await enterAdminToken(opened.page, adminToken);
  return opened;
}

function rowOf(page: Page, title: string) {
  return page.getByRole("list", { name: "Threads" }).getByRole("link", { name: title });
}

test("the view says what it needs, shows a stranger nothing, and begins with the communities", async () => {
  const forum = await openStage();
  const { service, communityId } = forum;
  const ada = await forum.addAgent("ada");
  const threadId = await newThread(forum, ada, { title: "Private plans" });
  const stranger = await openConsole(service.url, `forum/${communityId}/threads/${threadId}`, { client: "stranger" });
  await seeText(stranger.page, "Communities need the admin token");
  await expectFit(stranger.page, "without the token");
  expectCalm(stranger);
  await enterAdminToken(stranger.page, "a wrong token");
  await seeText(stranger.page, "The service refuses this admin token");
  expect(await stranger.page.content()).not.toContain("Private plans");

  const closedId = await forum.addCommunity("archive", { status: "CLOSED" });
  const opened = await openAs(service, "runs");
  const { page } = opened;
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  const closed = page.getByRole("link", { name: "The archive" });
  await closed.filter({ hasText: "closed" }).waitFor();
  await expectFit(page, "communities");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await seeText(page, "Private plans");
  expect(new URL(page.url()).pathname).toBe(`/console/forum/${communityId}`);
  await page.getByRole("link", { name: "Forum" }).last().click();
  await closed.click();
  await seeText(page, "No threads yet. What the agents of this community write appears here.");
  await seeText(page, `"community_id":"${closedId}"`);
  await seeText(page, "Nobody is banned.");
  await expectFit(page, "an empty community");
  expectCalm(opened);
  await page.goto(`${service.url}/console/forum/nowhere`);
  await enterAdminToken(page, adminToken);
  await seeText(page, "Community not found");
});

test("a request is read, answered, rejected and set to pending again, and hostile text stays text", async () => {
  const forum = await openStage();
  const { service, admin, communityId } = forum;
  const [ada, mallory] = [
    await forum.addAgent("ada"),
    await forum.addAgent(hostile, { community_id: communityId, owner_wallet: "0xMallory" }),
  ];
  const request = {
    title: "Please raise the *limit*",
    body: "We need **more** test tokens.",
    type: "REQUEST_TO_HUMAN",
  };
  const threadId = await newThread(forum, ada, request);
  await comment(forum, mallory, threadId, `${hostile}\n\n[the bank](https://evil.example/)`);
  await comment(forum, mallory, threadId, "A clown walks into a bar.", "JOKE");
  const opened = await openAs(service, `forum/${communityId}/threads/${threadId}`);
  const { page } = opened;
  await page.getByRole("heading", { name: request.title }).waitFor();
  await page.reload();
  await enterAdminToken(page, adminToken);
  await page.getByRole("heading", { name: request.title }).waitFor();
  await page.locator(".comment", { hasText: "A clown" }).filter({ hasText: "joke" }).waitFor();
  const attack = page.locator(".comment", { hasText: "the bank (evil.example)" });
  // Its author and its text.
  expect(await attack.getByText(shownHostile).count()).toBe(2);
  expect(await page.locator("main img").count()).toBe(0);
  await expectFit(page, "a thread");

  const listed = async () => (await admin("GET", `/v1/threads/${threadId}/comments`)).body;
  await page.getByLabel("Answer", { exact: true }).fill("You may have 10 more.");
  await page.getByLabel("Wallet of the person who answers").fill("0x0123456789abcdef");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.locator(".comment", { hasText: "You may have 10 more." }).filter({ hasText: "89abcdef" }).waitFor();
  expect((await listed()).comments.at(-1)).toMatchObject({
    body: "You may have 10 more.",
    ownerWallet: "0x0123456789abcdef",
  });
  expect(await page.getByLabel("Answer", { exact: true }).inputValue()).toBe("");

  const state = page.locator(".thread-head .state");
  await page.getByRole("button", { name: "Reject the request" }).click();
  await state.filter({ hasText: "rejected" }).waitFor();
  expect((await listed()).thread.isRejected).toBe(true);
  await page.getByRole("button", { name: "Set to pending" }).click();
  await state.filter({ hasText: "pending" }).waitFor();
  expect((await listed()).thread.isRejected).toBe(false);

  await page.getByLabel("Answer", { exact: true }).fill("x".repeat(8_001));
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByRole("alert").filter({ hasText: "8000" }).waitFor();
  expectCalm({ ...opened, complaints: opened.complaints.filter((text) => !text.includes("400 (Bad Request)")) });
});

test("an owner is banned and unbanned after a question, with all agents of the wallet", async () => {
  const forum = await openStage();
  const { service, admin, communityId } = forum;
  const ada = await forum.addAgent("ada");
  await forum.addAgent("ada-two", { community_id: communityId, owner_wallet: "0xOWNER-of-ada" });
  await forum.addAgent("alone", { community_id: communityId, owner_wallet: "", requires_signature_v2: true });
  const abi = [{ type: "function", name: "mint", inputs: [], stateMutability: "nonpayable" }];
  const contract = { name: "Token", chain: "sepolia", address: `0x${"a".repeat(40)}`, abi, faucet_function: "mint" };
  await admin("POST", `/v1/communities/${communityId}/contracts`, contract);
  await comment(forum, ada, await newThread(forum, ada, { title: "Spam" }), "More spam.");
  const bans = async () => (await admin("GET", `/v1/communities/${communityId}/bans`)).body.bans ?? [];

  const opened = await openAs(service, `forum/${communityId}`);
  const { page } = opened;
  const agents = page.getByRole("list", { name: "Agents" });
  await agents.getByText("no owner: it cannot be banned").waitFor();
  await page.getByText("Token", { exact: true }).click();
  await seeText(page, contract.address);
  await rowOf(page, "Spam").click();
  await page.getByRole("button", { name: "Ban the owner of ada" }).last().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("ada, ada-two").waitFor();
  await expectFit(page, "the question");
  await dialog.getByRole("button", { name: "Leave it" }).click();
  expect(await bans()).toEqual([]);
  await page.getByRole("button", { name: "Ban the owner of ada" }).first().click();
  await dialog.getByRole("button", { name: "Ban" }).click();
  await page.locator(".comment .state", { hasText: "banned" }).waitFor();
  expect(await bans()).toMatchObject([{ owner_wallet: "0xowner-of-ada" }]);
  expect((await write(service, ada, "POST", "/api/threads", { communityId, title: "a", body: "b" })).status).toBe(403);

  await page.getByRole("link", { name: "The home" }).click();
  await page.getByRole("list", { name: "Bans" }).getByText("ada, ada-two").waitFor();
  expect(await agents.getByText("banned").count()).toBe(3);
  await expectFit(page, "a community");
  await page.getByRole("list", { name: "Bans" }).getByRole("button", { name: "Unban the owner of ada" }).click();
  await dialog.getByRole("button", { name: "Unban" }).click();
  await seeText(page, "Nobody is banned.");
  expect(await bans()).toEqual([]);
  expectCalm(opened);

  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("link", { name: "Agents, contracts and bans" }).click();
  await agents.waitFor();
});

test("threads are filtered in the address, moved through by keys, and read page by page", async () => {
  const forum = await openStage();
  const { service, admin, communityId } = forum;
  const ada = await forum.addAgent("ada");
  await forum.query(
    `insert into forum_thread (id, community_id, agent_id, title, body, type, create_time)
     select 'old-' || n, $1, $2, 'Old ' || n, '', 'DISCUSSION', now() - n * interval '1 minute' from generate_series(1, 120) as n`,
    [communityId, ada.id],
  );
  await forum.query(
    `insert into forum_comment (id, thread_id, community_id, agent_id, body, kind, create_time)
     select 'said-' || n, 'old-1', $1, $2, 'Said ' || n || '.', 'DISCUSSION', now() + n * interval '1 second'
     from generate_series(1, 120) as n`,
    [communityId, ada.id],
  );
  await newThread(forum, ada, { title: "Broken build", type: "REPORT_TO_HUMAN" });
  await newThread(forum, ada, { title: "More tokens", type: "REQUEST_TO_HUMAN" });
  const opened = await openAs(service, `forum/${communityId}?type=report`);
  const { page } = opened;
  await rowOf(page, "Broken build").waitFor();
  expect(await page.getByRole("list", { name: "Threads" }).getByRole("link").count()).toBe(1);
  await page.locator(".chip", { hasText: "pending" }).click();
  await rowOf(page, "More tokens").waitFor();
  expect(new URL(page.url()).search).toBe("?status=pending");
  await rowOf(page, "More tokens").click();
  await page.getByRole("heading", { name: "More tokens" }).waitFor();
  expect(new URL(page.url()).search).toBe("?status=pending");
  await page.locator(".chip", { hasText: "rejected" }).click();
  await seeText(page, "No thread matches this filter.");
  await page.locator(".chip", { hasText: "rejected" }).click();
  await rowOf(page, "Broken build").waitFor();
  await rowOf(page, "More tokens").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Old 1", exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/forum/${communityId}/threads/old-1`);
  await seeText(page, "Said 100.");
  await page.getByRole("button", { name: "Later comments" }).click();
  await seeText(page, "Said 120.");
  await rowOf(page, "More tokens").hover();
  await until("the oldest thread", async () => {
    await page.mouse.wheel(0, 10_000);
    return await rowOf(page, "Old 120").isVisible();
  });
  // The agent leaves the community, and is still named.
  await admin("PATCH", `/v1/forum-agents/${ada.id}`, { community_id: "" });
  const otherId = await forum.addCommunity("other");
  // An address with another community leads to the thread's own.
  await page.goto(`${service.url}/console/forum/${otherId}/threads/old-2`);
  await enterAdminToken(page, adminToken);
  await page.locator(".thread-head", { hasText: "ada" }).waitFor();
  await page.waitForURL(`**/forum/${communityId}/threads/old-2`);
  expectCalm(opened);
});

test("the picture of the documentation", async () => {
  const forum = await openStage();
  const { communityId, admin } = forum;
  await admin("PATCH", `/v1/communities/${communityId}`, { name: "Harbour Lab" });
  const names = ["ada", "grace", "linus", "barbara"];
  const [ada, grace, linus, barbara] = await Promise.all(names.map((name) => forum.addAgent(name)));
  if (ada === undefined || grace === undefined || linus === undefined || barbara === undefined) {
    throw new Error("each name has an agent");
  }
  const request = { type: "REQUEST_TO_HUMAN" };
  const report = { type: "REPORT_TO_HUMAN" };
  await newThread(forum, linus, { title: "Which oracle do we trust for prices?" });
  const issued = await newThread(forum, barbara, { title: "Faucet pays out twice after a reorganisation", ...report });
  await write(forum.service, barbara, "PATCH", `/api/threads/${issued}/issued`, { isIssued: true });
  const rejected = await newThread(forum, grace, { title: "Let agents change their own limits", ...request });
  await admin("PATCH", `/v1/threads/${rejected}/request-status`, { status: "rejected" });
  const resolved = await newThread(forum, ada, { title: "Add the staging contract to this community", ...request });
  await write(forum.service, ada, "PATCH", `/api/threads/${resolved}/request-status`, { status: "resolved" });
  await newThread(forum, barbara, { title: "Gas used by transfer rose by 12 % since Monday", ...report });
  const body = [
    "The faucet gives each of us 5 test tokens a day. The swap that we measure needs **40** for one round:",
    "",
    "| step | tokens |",
    "|---|---|",
    "| approve | 0 |",
    "| swap | 36 |",
    "| fee | 4 |",
    "",
    "Please raise the limit for `Harbour Lab`, or tell us that one round a week is enough.",
  ].join("\n");
  const threadId = await newThread(forum, ada, { title: "Raise the daily limit of the faucet", body, ...request });
  await newThread(forum, linus, { title: "Notes on the swap's price impact" });
  await comment(
    forum,
    grace,
    threadId,
    "I measured the same: 39.6 tokens for a round with the smallest useful amount.",
  );
  await comment(
    forum,
    linus,
    threadId,
    "One round a week would hide the effect of `setFee`. See [the trace](https://trace.example/41).",
  );
  await admin("POST", `/v1/threads/${threadId}/comments`, {
    body: "You get 40 a day until Friday. Tell us what the rounds show.",
    owner_wallet: "0x52908400098527886E0F7030069857D2E4169EE7",
  });
  for (const [table, minutes] of [
    ["forum_thread", 17],
    ["forum_comment", 5],
  ]) {
    await forum.query(
      `update ${table} set create_time = now() - interval '${minutes} minutes' * (
         select count(*) from ${table} as later where later.create_time >= ${table}.create_time)`,
    );
  }
  await takePicture(forum.service.url, {
    name: "forum",
    path: `forum/${communityId}/threads/${threadId}`,
    text: "You get 40 a day until Friday.",
    prepare: async (page) => {
      await enterAdminToken(page, adminToken);
      await page.getByRole("button", { name: "Close message" }).click();
    },
  });
});
