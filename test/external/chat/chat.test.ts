// `@runnel/chat` in Chromium, on a page of another origin and without a key: what a visitor sees, through every break.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Approval_Decision } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { openBreakingLine } from "../../conformance/breaking-line.ts";
import { modelFlags } from "../../conformance/stage.ts";
import { expectFit } from "../../console/browser/checks.ts";
import { answer, callTools, type FakeProvider, hangAfter } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService, type TestService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { startMortalService, wholeText } from "../clients/killed-service.ts";
import { installChat, openChat, startSite } from "./stage.ts";

/** npm packs and installs the package first. */
vi.setConfig({ hookTimeout: 240_000 });

const pictureMaxBytes = 150_000;
const folder = mkdtempSync(join(tmpdir(), "runnel-chat-"));
beforeAll(() => installChat(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function setStage(agent: object = {}) {
  const provider = await openProvider();
  const site = await startSite(folder, agent);
  const flags = { ...modelFlags(provider), serverCorsOrigins: [site.origin], rateLimitRps: 0 };
  const service = await startService(flags);
  const client = new GrpcClient(service.target);
  const line = await openBreakingLine(service.url);
  site.serve(client, line.url);
  return { provider, site, service, client, line };
}

/** The model writes one word for each call of the returned function, and ends after the last one. A word is shown once it is over. */
function respondInSteps(provider: FakeProvider, words: readonly string[]): () => void {
  const steps = words.map((word) => ({ word, ...Promise.withResolvers<void>() }));
  provider.respond(async (wire) => {
    for (const { word, promise } of steps) {
      wire.text(word);
      await promise;
    }
    wire.done("stop");
  });
  const waiting = [...steps];
  return () => waiting.shift()?.resolve();
}

async function expireTickets({ databaseUrl }: TestService): Promise<void> {
  await query(databaseUrl, "update stream_ticket set create_time = create_time - interval '16 minutes'");
}

async function send(page: Page, message: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(message);
  await page.keyboard.press("Enter");
}

const answers = (page: Page): Locator => page.getByRole("article", { name: "Answer" });

async function seeAnswer(page: Page, text: string): Promise<void> {
  await until(`the answer ${text}`, async () => (await answers(page).last().innerText()) === text);
}

test("an answer continues where it was over a reload, a cut and an expired ticket, and starts one run", async () => {
  const { provider, site, service, line } = await setStage();
  const goOn = respondInSteps(provider, ["One, ", "two, ", "three, ", "four. "]);
  const { page, tails } = await openChat(site);
  await send(page, "Count.");
  await seeAnswer(page, "One,");
  await page.reload();
  await seeAnswer(page, "One,");
  goOn();
  await seeAnswer(page, "One, two,");
  line.cut();
  goOn();
  await seeAnswer(page, "One, two, three,");
  await expireTickets(service);
  line.cut();
  goOn();
  await seeAnswer(page, "One, two, three, four.");
  goOn();
  await until("the end", async () => await page.getByRole("button", { name: "Send" }).isVisible());
  expect(site.asked.map(({ type }) => type)).toEqual(["message", "ticket", "ticket"]);
  expect(provider.requests).toHaveLength(1);
  // Each stream began behind what the page had: nothing came twice.
  const places = tails.map(Number);
  expect(places[0]).toBe(0);
  expect(places.slice(1).every((place, index) => place > 0 && place >= (places[index] ?? 0))).toBe(true);
  // The history needs no service any more.
  const count = tails.length;
  await page.reload();
  await seeAnswer(page, "One, two, three, four.");
  expect(tails).toHaveLength(count);
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("rt_");
});

test("an answer continues once the network is back, however long the next attempt would be away", async () => {
  const { provider, site, line } = await setStage();
  const goOn = respondInSteps(provider, ["One, ", "two. "]);
  const { page, tails } = await openChat(site);
  await send(page, "Count.");
  await seeAnswer(page, "One,");
  // From here on no timer of the page ends by itself.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.context().setOffline(true);
  line.cut();
  await until("the words of a lost connection", async () => {
    await page.clock.runFor(20);
    return await page.getByText("The connection is lost. Trying again…").isVisible();
  });
  goOn();
  goOn();
  const count = tails.length;
  await page.context().setOffline(false);
  await until("the next attempt", () => tails.length > count);
  await page.clock.resume();
  await seeAnswer(page, "One, two.");
  expect(provider.requests).toHaveLength(1);
});

test("a page in React shows the whole answer once although the service is killed, and has words of its own", async () => {
  const site = await startSite(folder);
  const settings = { RUNNEL_SERVER_CORS_ORIGINS: site.origin };
  const service = await startMortalService(settings, answer("Another conversation."));
  const client = new GrpcClient(new URL(service.url).host);
  site.serve(client, service.url);
  const { page } = await openChat(site, "/react");
  const input = page.getByRole("textbox", { name: "Nachricht" });
  const shown = async () => await page.getByRole("article", { name: "Antwort" }).allInnerTexts();
  await input.fill("Hi");
  await page.getByRole("button", { name: "Senden" }).click();
  await service.killWhen("text on the page", async () => (await shown())[0]?.startsWith("A whole") === true);
  await until("the whole answer", async () => (await shown())[0] === wholeText);
  await page.getByRole("button", { name: "Another one" }).click();
  await until("an empty conversation", async () => (await shown()).length === 0);
  await input.fill("Hi");
  await page.keyboard.press("Enter");
  await until("the other answer", async () => (await shown())[0] === "Another conversation.");
  expect(site.asked.filter(({ type }) => type === "message").map((each) => each.conversation)).toEqual([
    "first",
    "second",
  ]);
  expect(await page.locator("runnel-chat").getAttribute("class")).toBe("chat");
});

const markdown = `# Hours

The shop *never* closes on \`main_street_2\` or north_gate_3; see [the page](https://example.org/a) or [here](javascript:alert(1)).
<img src=x onerror=alert(1)> ![a picture](https://example.org/track.png)

| day | hours |
|---|---|
| Monday | 9 to 5 |

- one
- two

\`\`\`js
const shop = "<b>open</b>";
\`\`\`

مرحبا بكم في المتجر.
`;

test("Markdown becomes elements and never HTML, loads nothing, and keeps WCAG from 320 px to 4K", async () => {
  const { provider, site } = await setStage();
  provider.respond(answer(markdown));
  const { page, hosts } = await openChat(site);
  await expectFit(page, "empty chat");
  await send(page, "When are you open?");
  await answers(page).getByText("مرحبا").waitFor();
  const whole = answers(page);
  expect(await whole.locator("img, script, b").count()).toBe(0);
  expect(await whole.locator("a").evaluateAll((links) => links.map((each) => each.getAttribute("href")))).toEqual([
    "https://example.org/a",
    null,
    "https://example.org/track.png",
  ]);
  const text = await whole.innerText();
  for (const part of [
    "main_street_2 or north_gate_3",
    "the page (example.org)",
    "<img src=x onerror=alert(1)>",
    '"<b>open</b>"',
  ]) {
    expect(text).toContain(part);
  }
  expect(await whole.locator("th").allInnerTexts()).toEqual(["day", "hours"]);
  expect(await whole.getByText("مرحبا").evaluate((each) => each.matches(":dir(rtl)"))).toBe(true);
  expect([...hosts].every((host) => host.startsWith("127.0.0.1:"))).toBe(true);
  // What a screen reader says has the words alone.
  await until("the spoken text", async () => (await page.locator("[aria-live=polite]").allInnerTexts()).includes(text));
  await expectFit(page, "chat");
});

test("a tool call is folded, and a run that waits long for a person says so and continues", async () => {
  const tools = { builtin: ["write_file"], approve: ["write_file"] };
  const { provider, site, service, client, line } = await setStage({ tools });
  const call = {
    id: "one",
    name: "write_file",
    arguments: '{"file_path":"hours.txt","content":"<b>Sunday</b> 9 to 5"}',
  };
  provider.respond(callTools(call), answer("Done. We are open **on Sunday** from 9 to 5 now."));
  const { page } = await openChat(site);
  await page.evaluate(`addEventListener("runnel-chat-waiting", ({ detail }) => {
    document.title = detail.approvals[0].tool_name;
  })`);
  await send(page, "We open on Sundays from now on. Please change our hours.");
  await page.getByText("A person has to allow this first: write_file").waitFor();
  await until("the event", async () => (await page.title()) === "write_file");
  const input = page.getByRole("group", { name: "Input" });
  expect(await input.isVisible()).toBe(false);
  await page.getByText("write_file running").click();
  expect(await input.innerText()).toContain("<b>Sunday</b>");
  await expectFit(page, "waiting chat");
  // A person takes long: each ticket expires before the run has said anything new.
  for (const tickets of [1, 2, 3]) {
    await expireTickets(service);
    line.cut();
    await until("another ticket", () => site.asked.filter(({ type }) => type === "ticket").length === tickets);
    await until("the stream to be open", () => service.app.countReaders() === 1);
  }
  const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
  const { approvalId = "", digest = "" } = approvals[0] ?? {};
  const decision = Approval_Decision.APPROVE;
  await client.call(ApprovalService.method.decideApproval, { approvalId, digest, decision });
  await answers(page).getByText("on Sunday").waitFor();
  await page.getByText("write_file done").waitFor();
  expect(await page.getByText("A person has to allow").count()).toBe(0);
  await page.getByText("write_file done").click();
  await takePictures(page);
});

/** The pictures of the page: a wide one in light and a narrow one in dark. */
async function takePictures(page: Page): Promise<void> {
  for (const [name, width, colorScheme] of [
    ["wide", 1_440, "light"],
    ["narrow", 390, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    await page.emulateMedia({ colorScheme });
    const picture = await page.screenshot({ animations: "disabled" });
    expect(picture.length).toBeLessThan(pictureMaxBytes);
    if (process.env.SCREENSHOTS === "write") {
      writeFileSync(join(repositoryRoot, `docs/images/chat-${name}.png`), picture);
    }
  }
}

test("a visitor stops an answer by the keyboard, keeps the focus, and goes on", async () => {
  const { provider, site } = await setStage();
  provider.respond(hangAfter("It never ends "), answer("Short."));
  const { page } = await openChat(site);
  await send(page, "Talk.");
  await seeAnswer(page, "It never ends");
  await page.keyboard.press("Tab");
  expect(await page.getByRole("button", { name: "Stop" }).evaluate((each) => each.matches(":focus"))).toBe(true);
  await page.keyboard.press("Enter");
  await seeAnswer(page, "It never ends\n\nThe answer was stopped.");
  await until("the focus in the field", async () => {
    return await page.getByRole("textbox").evaluate((each) => each.matches(":focus"));
  });
  await page.keyboard.type("Shorter.");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("Please.");
  await page.keyboard.press("Enter");
  await seeAnswer(page, "Short.");
  expect(provider.requests[1]?.body.messages.at(-1)).toMatchObject({ content: "Shorter.\nPlease." });
});

test("the site refuses, is broken, and is left before it answers: a message starts one run", async () => {
  const { provider, site } = await setStage();
  provider.respond(answer("Once."));
  const { page } = await openChat(site);
  site.deviate(async () => ({ status: 403, body: { error: "Please log in." } }));
  await send(page, "Hi");
  await page.getByText("Please log in.").waitFor();
  site.deviate(async () => ({ status: 500, body: {} }));
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("The connection is lost. Trying again…").waitFor();
  const held = Promise.withResolvers<undefined>();
  onTestFinished(() => held.resolve(undefined));
  const before = site.asked.length;
  site.deviate(() => held.promise);
  await until("the held request", () => site.asked.length > before);
  site.deviate(() => undefined);
  await page.reload();
  await seeAnswer(page, "Once.");
  expect(new Set(site.asked.map((asked) => asked.request_id)).size).toBe(1);
  expect(provider.requests).toHaveLength(1);
});

test("a page sets properties before the script has loaded, and moves the element in mid-answer", async () => {
  const { provider, site } = await setStage();
  const goOn = respondInSteps(provider, ["One, ", "two. "]);
  const { page } = await openChat(site, "/early");
  await page.getByRole("button", { name: "Ask" }).waitFor();
  await send(page, "Count.");
  await seeAnswer(page, "One,");
  await page.evaluate('document.querySelector("main").prepend(document.querySelector("runnel-chat"), "Moved")');
  goOn();
  await seeAnswer(page, "One, two.");
  goOn();
  await page.getByRole("button", { name: "Ask" }).waitFor();
  expect(provider.requests).toHaveLength(1);
  await page.evaluate('document.querySelector("runnel-chat").removeAttribute("endpoint")');
  await page.getByText("This chat is not ready: its page has to set `endpoint` and `backend`.").waitFor();
});
