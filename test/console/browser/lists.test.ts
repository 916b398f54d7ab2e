// Lists in the console tell runs and approvals apart.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { endOfRun } from "../../conformance/stage.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { openProvider } from "../../fixtures.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeBadge, seeText } from "./console-page.ts";

const { createSession, sendMessage } = SessionService.method;

async function setStage() {
  const provider = await openProvider();
  // No price table knows the models of this provider.
  const model = { compatibleBaseUrl: provider.baseUrl, defaultModel: "compatible:house" };
  const service = await startService({ ...model, consoleEnabled: true });
  const client = new GrpcClient(service.target);
  const start = async (agent: object, message: string, annotations = ""): Promise<string> => {
    const { sessionId } = await client.call(createSession, { agent });
    return (await client.call(sendMessage, { sessionId, message, annotations })).runId;
  };
  return { provider, service, client, start };
}

test("a row has the agent, the session, the first words, the annotations, the outcome in its own words and no invented cost", async () => {
  const { provider, service, client, start } = await setStage();
  const words = { error: { message: "the context is too long", type: "invalid_request_error" } };
  provider.respond(
    (wire) => {
      wire.text("# The answer\n\n**Bold** and `code`.");
      wire.finish("stop");
      wire.usage({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 });
      wire.done();
    },
    (wire) => wire.reply(400, JSON.stringify(words)),
  );
  const ended = (runId: string) => endOfRun(client, runId);
  const annotations = '{"team":"<b>billing</b>\u202e","customer":4711,"tags":["a"]}';
  const first = await ended(await start({ name: "editor" }, "Summarise\nthis page.", annotations));
  const second = await ended(await start({ name: "critic" }, "مرحبا بالعالم"));
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  const rowOf = (runId: string) => page.getByRole("row").filter({ hasText: runId.slice(-8) });
  const cells = async (runId: string, ...names: readonly string[]): Promise<(string | null)[]> =>
    await Promise.all(names.map((name) => rowOf(runId).locator(`[data-column="${name}"]`).textContent()));
  await rowOf(first.runId).filter({ hasText: "completed" }).waitFor();
  expect(await cells(first.runId, "agent", "input", "result", "session", "cost")).toEqual([
    "editor",
    "Summarise this page.team: <b>billing</b>‹U+202E›customer: 4711",
    "The answer\n\nBold and code.",
    first.sessionId.slice(-8),
    "unknown",
  ]);
  expect(await cells(second.runId, "agent", "result")).toEqual(["critic", "the context is too long runner.error"]);
  await expectFit(page, "the list of runs");
  await page.goto(`${service.url}/console/usage`);
  const row = page.getByRole("row").filter({ hasText: "compatible:house" });
  await row.filter({ hasText: "unknown" }).waitFor();
  await page.goto(`${service.url}/console/runs/${second.runId}`);
  await seeText(page, "API error (status 400): the context is too long");
  expectCalm(opened);
});

test("the list and its stream bring no more of a long output than a row shows", async () => {
  const { provider, service, client, start } = await setStage();
  const text = `The answer is ${"long ".repeat(100_000)}`;
  provider.respond(answer(text), answer(text));
  const sizes: number[] = [];
  await endOfRun(client, await start({ name: "early" }, "Go."));
  const opened = await openConsole(service.url);
  opened.page.on("response", async (response) => {
    if (response.url().endsWith("/ListRuns")) {
      sizes.push((await response.body()).length);
    }
  });
  await seeBadge(opened.page, /^live/);
  await opened.page.reload();
  const row = (agent: string) => opened.page.getByRole("row").filter({ hasText: `${agent}Go.The answer is long long` });
  await row("early").waitFor();
  await endOfRun(client, await start({ name: "late" }, "Go."));
  await row("late").waitFor();
  expect(await row("late").locator('[data-column="result"]').textContent()).toHaveLength(200);
  await until("the size", () => sizes.length > 0);
  expect(Math.max(...sizes)).toBeLessThan(2_000);
  expectCalm(opened);
});

test("a row of an approval has the argument that matters, the agent and the session", async () => {
  const { provider, service, start } = await setStage();
  const args = { content: "x", file_path: "letters/\u202etxt.exe" };
  provider.respond(callTools({ id: "one", name: "write_file", arguments: JSON.stringify(args) }), answer("Done."));
  await start({ name: "careful", tools: { builtin: ["write_file"], approve: ["write_file"] } }, "Write.");
  const opened = await openConsole(service.url, "approvals");
  const { page } = opened;
  const row = page.getByRole("list", { name: "Approvals" }).getByRole("listitem");
  await row.filter({ hasText: "write_file letters/‹U+202E›txt.exe" }).waitFor();
  expect(await row.textContent()).toMatch(/careful · session [0-9a-f]{8}.*ago|just now/);
  await expectFit(page, "the list of approvals");
  expectCalm(opened);
});

test("a search shows the words in their texts, marked and never as HTML, and lives in the address", async () => {
  const { provider, service, client, start } = await setStage();
  provider.respond(answer("An <b>avocet</b>\u202e wades."), answer("Nothing."));
  const runId = await start({ name: "birder" }, "Which wader?");
  await start({ name: "other" }, "And now?");
  await until("the text", async () => {
    const { matches } = await client.call(RunService.method.searchRuns, { query: "avocet" });
    return matches.length === 1;
  });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  await page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("Avocet wader");
  await page.keyboard.press("Enter");
  const found = page.getByRole("list", { name: "Found runs" }).getByRole("listitem");
  await found.first().waitFor();
  expect(await found.count()).toBe(1);
  expect(await found.locator("mark").allTextContents()).toEqual(["wader", "avocet"]);
  expect(await found.locator(".snippet").textContent()).toContain("An <b>avocet</b>‹U+202E› wades.");
  expect(new URL(page.url()).search).toBe("?words=Avocet+wader");
  await expectFit(page, "a search");
  await page.reload();
  await found.first().waitFor();
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  // The run opens where the word is.
  await page.waitForURL(new RegExp(`/console/runs/${runId}\\?seq=\\d+$`));
  await page.locator(".row[data-chosen]", { hasText: "avocet" }).waitFor();
  await page.goto(`${service.url}/console/runs?words=gannet`);
  await seeText(page, "No run has these words");
  await expectFit(page, "a search without a match");
  expectCalm(opened);
});

test("the first rows take the page, its script, its styles and one call", async () => {
  const { provider, service, client, start } = await setStage();
  provider.respond(answer("Done."));
  await endOfRun(client, await start({ name: "quick" }, "Hello."));
  const { page } = await openConsole(service.url, "new");
  // A busy machine may let the page wait for the answer in vain.
  await page.addInitScript(`{
    const { setTimeout } = window;
    window.setTimeout = (act, ms) => (ms === 100 ? 0 : setTimeout(act, ms));
    new MutationObserver((_, observer) => {
      if (document.querySelector(".run-row") !== null) {
        observer.disconnect();
        const asked = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
        document.documentElement.dataset.asked = asked.filter((path) => !path.endsWith("/icon.svg")).join(" ");
      }
    }).observe(document, { childList: true, subtree: true });
  }`);
  await page.goto(`${service.url}/console/runs`);
  const asked = await page.locator("html[data-asked]").getAttribute("data-asked");
  const names = asked?.split(" ").map((path) => path.replace(/-[^/]+\./, "."));
  expect(new Set(names)).toEqual(
    new Set(["/console/assets/index.js", "/console/assets/index.css", "/runnel.v1.RunService/ListRuns"]),
  );
  await page.locator("[data-index]").first().waitFor();
});

test("a span with a calendar is of the person's time zone, lives in the address, and may be open at one side", async () => {
  const { provider, service, client, start } = await setStage();
  provider.respond(answer("One."), answer("Two."));
  const secondOf = async (runId: string): Promise<number> =>
    Number((await client.call(RunService.method.getRun, { runId })).run?.createTime?.seconds ?? 0n);
  const first = await start({ name: "early" }, "1");
  const firstSecond = await secondOf(first);
  await until("another second", () => Date.now() / 1_000 >= firstSecond + 2);
  const boundary = await secondOf(await start({ name: "late" }, "2"));
  const opened = await openConsole(service.url, "runs", { timezoneId: "Asia/Tokyo" });
  const { page } = opened;
  const agents = async (): Promise<readonly string[]> =>
    (await page.locator('[role=row] [data-column="agent"][role=cell]').allTextContents()).sort();
  const see = (...names: readonly string[]) => until(`${names}`, async () => `${await agents()}` === `${names}`);
  await see("early", "late");
  await page.getByLabel("Time", { exact: true }).selectOption("from … to …");
  // Tokyo is nine hours ahead, all the year.
  const local = new Date((boundary + 9 * 3_600) * 1_000).toISOString().slice(0, 19);
  const span = page.getByRole("group", { name: "From … to …" });
  await span.getByLabel("from", { exact: true }).fill(local);
  await see("late");
  await expectFit(page, "a span of the list");
  expect(new URL(page.url()).searchParams.get("from")).toBe(new Date(boundary * 1_000).toISOString());
  await page.reload();
  expect(await span.getByLabel("from", { exact: true }).inputValue()).toBe(local);
  await see("late");
  await span.getByLabel("from", { exact: true }).fill("");
  await span.getByLabel("to", { exact: true }).fill(local);
  await see("early");
  await span.getByLabel("Which time").selectOption("last changed");
  expect(new URL(page.url()).searchParams.get("time")).toBe("changed");
  await page.getByLabel("Time", { exact: true }).selectOption("any time");
  await see("early", "late");
  expect(new URL(page.url()).search).toBe("");
  expectCalm(opened);
});

test("the script of the first view shows the list of runs by itself, and the rest brings its keys", async () => {
  const { provider, service, start } = await setStage();
  provider.respond(answer("Done."));
  const runId = await start({ name: "quick" }, "Hello.");
  const opened = await openConsole(service.url, "new");
  const { page } = opened;
  await page.getByLabel("Message").waitFor();
  const rest = Promise.withResolvers<void>();
  await page.route(/\/assets\/(?!index-)[^/]+\.js$/, async (route) => {
    await rest.promise;
    await route.continue();
  });
  await page.goto(`${service.url}/console/runs`);
  await page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .filter({ hasText: "Hello." })
    .waitFor();
  rest.resolve();
  await page.locator("[data-index]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.url}/console/runs/${runId}`);
  expectCalm(opened);
});

test("a person chooses the columns by keyboard, and the browser remembers them", async () => {
  const { provider, service, start } = await setStage();
  provider.respond(answer("Done."));
  await start({ name: "quick" }, "Hello.");
  const opened = await openConsole(service.url, "runs", { viewport: { width: 1440, height: 900 } });
  const { page } = opened;
  const heads = page.getByRole("columnheader");
  const usual = ["State", "Run", "Agent", "Input", "Result", "Session", "Tokens", "Cost", "Started", "Duration"];
  await page.locator("[data-index]").first().waitFor();
  expect(await heads.allTextContents()).toEqual(usual);
  const menu = page.locator("summary", { hasText: "Columns" });
  await menu.focus();
  await page.keyboard.press("Enter");
  const model = page.getByRole("checkbox", { name: "model" });
  await model.focus();
  await page.keyboard.press("Space");
  await heads.filter({ hasText: "Model" }).waitFor();
  await page.getByRole("checkbox", { name: "result" }).uncheck();
  await heads.filter({ hasText: "Result" }).waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "compatible:house" }).waitFor();
  await expectFit(page, "the menu of the columns");
  await model.focus();
  await page.keyboard.press("Escape");
  await model.waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Columns");

  await page.reload();
  await page.locator("[data-index]").first().waitFor();
  const chosen = ["State", "Run", "Agent", "Input", "Session", "Model", "Tokens", "Cost", "Started", "Duration"];
  expect(await heads.allTextContents()).toEqual(chosen);
  await menu.click();
  await page.getByRole("button", { name: "As the screen allows" }).click();
  await heads.filter({ hasText: "Result" }).waitFor();
  expect(await heads.allTextContents()).toEqual(usual);
  await page.locator("h1").click();
  await model.waitFor({ state: "hidden" });
  // A phone shows cards, which have no columns to choose.
  await page.setViewportSize({ width: 390, height: 800 });
  await menu.waitFor({ state: "hidden" });
  expectCalm(opened);
});

test("a list with a filter goes on by itself, behind more runs and sessions than a page reads", async () => {
  const { provider, service, client, start } = await setStage();
  provider.respond(answer("Found."));
  const { runId, sessionId } = await endOfRun(client, await start({ name: "rare" }, "Where are you?"));
  await query(
    service.databaseUrl,
    `with opened as (
       insert into session (id, client, name, agent, latest_run_id)
       select gen_random_uuid(), client, 'many ' || n, '', gen_random_uuid() from run, generate_series(1, 5200) as n
       returning id, client, latest_run_id
     )
     insert into run (id, client, session, driver, input, status, epoch, deadline, end_time, agent_name)
     select latest_run_id, client, id, 'llm-loop', '', 'completed', 1, now(), now(), 'usual' from opened`,
  );
  const opened = await openConsole(service.url, "runs?agent=rare");
  const { page } = opened;
  await page
    .getByRole("row")
    .filter({ hasText: runId.slice(-8) })
    .waitFor();
  await page.getByText("Loading older runs").waitFor({ state: "detached" });
  await page.goto(`${service.url}/console/sessions?agent=rare`);
  await page.getByRole("list", { name: "Sessions" }).getByText(sessionId.slice(-8)).waitFor();
  await page.goto(`${service.url}/console/runs?agent=missing`);
  await seeText(page, "No run matches this filter");
  expectCalm(opened);
});
