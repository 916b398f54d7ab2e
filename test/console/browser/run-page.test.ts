// What a run's page says about its state: the title of its tab, a failed cancel, a run for later, a call that waits.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, onTestFinished, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, startFakeProvider } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";

async function setStage() {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const service = await startService({ ...modelFlags(provider), consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const start = async (agent: object, message: object): Promise<string> => {
    const { sessionId } = await client.call(SessionService.method.createSession, { agent });
    return (await client.call(SessionService.method.sendMessage, { sessionId, message: "Go.", ...message })).runId;
  };
  return { provider, service, client, start };
}

test("the title of a tab names the agent, the run and its state", async () => {
  const { provider, service, start } = await setStage();
  const gate = Promise.withResolvers<void>();
  provider.respond(async (wire, request) => {
    await gate.promise;
    await answer("Done.")(wire, request);
  });
  const runId = await start({ name: "editor" }, {});
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  const seeTitle = async (title: string): Promise<unknown> =>
    await until(`the title ${title}`, async () => (await page.title()) === title);
  await seeTitle(`editor ${runId.slice(-8)}, running · Runnel`);
  gate.resolve();
  await seeTitle(`editor ${runId.slice(-8)}, completed · Runnel`);
  await page.getByRole("link", { name: "Runs", exact: true }).first().click();
  await seeTitle("Runs · Runnel");
  expectCalm(opened);
});

test("a cancel without an answer says so in words, and can be tried again", async () => {
  const { provider, service, start } = await setStage();
  provider.respond(() => new Promise(() => {}));
  const { page } = await openConsole(service.url, `runs/${await start({ name: "editor" }, {})}`);
  await page.getByText("running").first().waitFor();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Cancel" }).click();
  await seeText(page, "The run could not be cancelled: the service does not answer: try again in a moment");
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Cancel" }).click();
  await seeText(page, "Asked the run to stop.");
});

test("a run for later says when it is due, and not that it has started or waits in the queue", async () => {
  const { service, start } = await setStage();
  const startTime = timestampFromMs(Date.now() + 3_600_000);
  const runId = await start({ name: "reporter" }, { startTime });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  const row = page.getByRole("row").filter({ hasText: runId.slice(-8) });
  await row.filter({ hasText: /in (?:59|60)m \d\ds|in 1h 00m/ }).waitFor();
  await row.getByRole("link").click();
  await page.locator(".facts", { hasText: /due.*, in (?:59m|1h)/ }).waitFor();
  expect(await page.locator(".facts").textContent()).not.toContain("started");
  const spans = page.getByRole("list", { name: "Waterfall" });
  await spans.filter({ hasText: "until due" }).waitFor();
  expect(await spans.textContent()).not.toContain("queue");
  expectCalm(opened);
});

test("a call that waits for a person is not drawn as running", async () => {
  const { provider, service, start } = await setStage();
  provider.respond(callTools({ id: "one", name: "list_dir", arguments: "{}" }), answer("Done."));
  const runId = await start({ name: "careful", tools: { builtin: ["list_dir"], approve: ["list_dir"] } }, {});
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  const call = page.locator(".tool");
  await call.filter({ hasText: "waiting" }).waitFor();
  expect(await page.locator(".span-bar[data-open]").count()).toBe(1);
  await page.getByRole("button", { name: "Approve" }).click();
  await call.filter({ hasText: "done" }).waitFor();
  expectCalm(opened);
});

test("the waterfall of a long run follows its end, and a zoom shows the spans around the chosen one", async () => {
  const { provider, service, start } = await setStage();
  const turns = 14;
  const call = { id: "call-1", name: "list_dir", arguments: "{}" };
  provider.respond(...Array.from({ length: turns }, () => callTools(call)), (wire) => wire.hang());
  const runId = await start({ name: "editor", tools: { builtin: ["list_dir"] } }, {});
  await provider.request(turns);
  const opened = await openConsole(service.url, `runs/${runId}`, { viewport: { width: 1280, height: 600 } });
  const { page } = opened;
  const pane = page.getByRole("region", { name: "Waterfall" });
  const last = pane.locator(".span", { hasText: `turn ${turns + 1}` });
  await last.waitFor();
  await until("the newest turn in sight", async () => (await last.boundingBox().then((box) => box?.y ?? 1_000)) < 600);
  expect(await pane.locator(".span", { hasText: /^turn 1\b/ }).count()).toBe(0);
  const count = async (): Promise<number> =>
    Number(await pane.getByRole("listitem").first().getAttribute("aria-setsize"));
  const before = await count();
  expect(before).toBeGreaterThan(3 * turns);
  await pane.getByRole("button", { name: "Look closer" }).click();
  await until("fewer rows", async () => (await count()) < before);
  await last.waitFor();
  await pane.getByRole("button", { name: "Show more of the time" }).click();
  await until("all rows", async () => (await count()) >= before);
  expectCalm(opened);
});

test("on a phone the head of a run leaves three quarters of the page to the run, and its fold has the rest", async () => {
  const { provider, service, start } = await setStage();
  const long = `the model refuses ${"this long request, ".repeat(40)}at last`;
  provider.respond(fail(400, JSON.stringify({ error: { message: long } })), (wire) => wire.hang());
  const viewport = { width: 390, height: 844 };
  const opened = await openConsole(service.url, `runs/${await start({ name: "editor" }, {})}`, { viewport });
  const { page } = opened;
  const head = page.locator(".run-head");
  const share = async (): Promise<number> => ((await head.boundingBox())?.height ?? viewport.height) / viewport.height;
  await head.locator(".run-error", { hasText: "this long request" }).waitFor();
  await seeBadge(page, /^ended, complete/);
  expect(await share()).toBeLessThan(0.25);
  await expectFit(page, "the folded head of a run");
  await page.setViewportSize(viewport);
  await head.locator("summary").focus();
  await page.keyboard.press("Enter");
  await head.locator(".facts", { hasText: "editor" }).waitFor();
  await head.getByRole("link", { name: "Run again" }).waitFor();
  await expectFit(page, "the open head of a run");
  expectCalm(opened);

  // Cancel is urgent, so it is not folded.
  const { page: other } = await openConsole(service.url, `runs/${await start({ name: "editor" }, {})}`, { viewport });
  await seeBadge(other, /^live/);
  await other.getByRole("button", { name: "Cancel" }).waitFor();
  const running = (await other.locator(".run-head").boundingBox())?.height ?? viewport.height;
  expect(running / viewport.height).toBeLessThan(0.25);
});

test("the number of an entry behind # marks it and scrolls to it, and gives way to a choice", async () => {
  const { provider, service, start } = await setStage();
  const call = { id: "call-1", name: "list_dir", arguments: "{}" };
  provider.respond(...Array.from({ length: 12 }, () => callTools(call)), answer("Done."));
  const runId = await start({ name: "editor", tools: { builtin: ["list_dir"] } }, {});
  const viewport = { width: 1000, height: 500 };
  const { page } = await openConsole(service.url, `runs/${runId}?tab=entries#40`, { viewport });
  const marked = (sequence: number) => page.locator('.entry[aria-current="true"]', { hasText: `#${sequence}` });
  await marked(40).waitFor();
  await page.evaluate("location.hash = '#10'");
  await marked(10).waitFor();
  await page.locator(".entry", { hasText: "#12" }).click();
  await marked(12).waitFor();
  expect(page.url()).toMatch(/seq=12$/);
  await page.goto(`${service.url}/console/runs/${runId}#30`);
  await page.locator(".transcript-rows [data-chosen]").waitFor();
});
