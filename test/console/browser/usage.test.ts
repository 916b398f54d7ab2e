// Usage in the console: budgets, days, sums, limits, and the circuit breakers of providers.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { endOfRun, modelFlags } from "../../conformance/stage.ts";
import { answer, type Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { openProvider } from "../../fixtures.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { createMovedClock } from "../../harness/moved-clock.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";
import { type ConsoleStage, setConsoleStage } from "./stage.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const viewport = { width: 1280, height: 800 };

interface Spent {
  readonly agent: string;
  readonly model?: string;
  readonly input?: number;
  readonly output?: number;
  readonly daysAgo?: number;
}

/** Completes a run with these tokens, and sets its end back. */
async function completeRun({ provider, service, client }: ConsoleStage, spent: Spent): Promise<void> {
  const { agent, model = "gpt-4o-mini", input = 1_000, output = 200, daysAgo = 0 } = spent;
  const script: Script = (wire) => {
    wire.text("Done.");
    wire.finish("stop");
    wire.usage({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });
    wire.done();
  };
  provider.respond(script);
  const runId = await startRun(client, agent, model);
  await endOfRun(client, runId);
  const change = "update run set end_time = end_time - $1 * interval '1 day' where id = $2";
  await query(service.databaseUrl, change, [daysAgo, runId]);
}

async function startRun(client: GrpcClient, name: string, model: string): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name, model } });
  return (await client.call(SessionService.method.sendMessage, { sessionId, message: "Go." })).runId;
}

/**
 * Stores ended runs as if they had ended on days before, each with another name if `name` says so. The next question for usage counts
 * them; a page that was loaded before would not ask for past days again.
 */
async function copyRuns(url: string, from: string, name = "agent_name", factor = "1"): Promise<void> {
  const times = `create_time - ago * interval '1 day', start_time - ago * interval '1 day', end_time - ago * interval '1 day'`;
  const amounts = ["prompt_tokens", "completion_tokens", "cost_micro_usd"].map((each) => `${each} * ${factor}`);
  await query(
    url,
    `with copied as (insert into run (id, client, session, driver, input, status, epoch, deadline, terminal, model, agent_name,
       create_time, start_time, end_time, prompt_tokens, completion_tokens, cost_micro_usd)
     select gen_random_uuid(), client, session, driver, input, status, epoch, deadline, terminal, model, ${name},
       ${times}, ${amounts.join(", ")} from run, ${from} returning id)
     insert into ended_run (run_id) select id from copied`,
  );
  // The idle service makes no look at its tables, and the sums would wait for autovacuum.
  await query(url, "analyze");
}

function dayOf(daysAgo: number): string {
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
  return day.format(Date.now() - daysAgo * 86_400_000);
}

async function namesIn(page: Page, table: string): Promise<readonly string[]> {
  return await page.getByRole("table", { name: table }).locator("tbody th").allTextContents();
}

test("today counts against the budget by itself, and says when it is nearly and wholly used up", async () => {
  const stage = await setConsoleStage({ budgetClientDayTokens: 10_000, budgetClientDayUsd: 1 });
  await completeRun(stage, { agent: "triage" });
  await completeRun(stage, { agent: "reviewer", model: "gpt-4o", input: 4_000, output: 1_000 });
  const opened = await openConsole(stage.service.url, "runs", { viewport });
  const { page } = opened;
  await page.getByRole("row").filter({ hasText: "triage" }).waitFor();
  await page.getByRole("link", { name: "Usage" }).click();
  await seeText(page, "6,200 of 10,000, 62 %");
  await seeText(page, "$0.02 of $1.00, 2 %");
  await seeText(page, "2 runs have ended today, with 6,200 tokens and $0.02.");
  await completeRun(stage, { agent: "triage", input: 2_000, output: 300 });
  await seeText(page, "8,500 of 10,000, 85 %: nearly used up");
  await seeText(page, "3 runs have ended today");
  await expectFit(page, "a budget that is nearly used up");
  await completeRun(stage, { agent: "triage", input: 1_900, output: 100 });
  const { tokens, tokensMax } = await stage.client.call(SystemService.method.getUsage, {});
  expect([tokens, tokensMax]).toEqual([10_500n, 10_000n]);
  const meter = page.getByRole("meter", { name: "Tokens, of the daily budget" });
  await seeText(page, "10,500 of 10,000, 105 %: used up");
  expect(await meter.getAttribute("aria-valuenow")).toBe("100");
  await expectFit(page, "a budget that is used up");
  expectCalm(opened);
});

test("each day of the span in the address has a bar, exact values by mouse and keyboard, and one with runs a row of the table", async () => {
  const stage = await setConsoleStage();
  await completeRun(stage, { agent: "triage" });
  await completeRun(stage, { agent: "reviewer", model: "gpt-4o", input: 2_000, output: 100 });
  await completeRun(stage, { agent: "triage", daysAgo: 3 });
  await completeRun(stage, { agent: "triage", input: 1_234_567, output: 20, daysAgo: 60 });
  const opened = await openConsole(stage.service.url, "usage?days=7", { viewport });
  const { page } = opened;
  await seeText(page, "No daily budget is set");
  await seeText(page, "2 runs have ended today, with 3,300 tokens and $0.0063.");
  const runs = page.getByRole("slider", { name: "Runs that ended" });
  const [counts, tokens, cost] = [0, 1, 2].map((index) => page.locator(".chart").nth(index));
  await counts?.filter({ hasText: "7 days" }).filter({ hasText: "3" }).waitFor();
  await runs.focus();
  expect(await runs.getAttribute("aria-valuetext")).toBe(`${dayOf(0)}: 2`);
  await cost
    ?.filter({ hasText: dayOf(0) })
    .filter({ hasText: "$0.00627" })
    .waitFor();
  await page.keyboard.press("ArrowLeft");
  await tokens
    ?.filter({ hasText: dayOf(1) })
    .filter({ hasText: "0 input" })
    .waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await tokens
    ?.filter({ hasText: dayOf(3) })
    .filter({ hasText: "1,000 input" })
    .filter({ hasText: "200 output" })
    .waitFor();
  expect(await runs.getAttribute("aria-valuetext")).toBe(`${dayOf(3)}: 1`);
  await expectFit(page, "a chosen day");
  await page.keyboard.press("Home");
  await counts?.filter({ hasText: dayOf(6) }).waitFor();
  await page.getByRole("heading", { name: "Usage" }).click();
  await page.getByRole("slider", { name: "Cost" }).hover();
  await cost
    ?.filter({ hasText: dayOf(3) })
    .filter({ hasText: "$0.00027" })
    .waitFor();
  await page.getByRole("heading", { name: "Usage" }).hover();
  await cost?.filter({ hasText: "7 days" }).filter({ hasText: "$0.00654" }).waitFor();

  await page.getByRole("radio", { name: "90 days" }).check({ force: true });
  expect(new URL(page.url()).search).toBe("?days=90");
  await tokens?.filter({ hasText: "1,238,567 input" }).waitFor();
  await page.reload();
  await page.getByText("The same numbers as a table").click();
  const row = page.getByRole("table", { name: "Numbers over time, newest first" }).getByRole("row");
  expect(
    await row
      .filter({ hasText: dayOf(60) })
      .locator("td")
      .allTextContents(),
  ).toEqual(["1", "1,234,567", "20", "$0.185198"]);
  expect(await row.count()).toBe(4);
  await expectFit(page, "the table of days");
  expectCalm(opened);
});

test("sums by model and agent are sorted by the address, keys move through them, and each leads to its runs", async () => {
  const stage = await setConsoleStage();
  await completeRun(stage, { agent: "triage", input: 50_000, daysAgo: 2 });
  await completeRun(stage, { agent: "triage" });
  await completeRun(stage, { agent: "reviewer", model: "gpt-4o", input: 9_000 });
  const opened = await openConsole(stage.service.url, "usage?days=7", { viewport });
  const { page } = opened;
  await page.getByRole("link", { name: "reviewer" }).waitFor();
  expect(await namesIn(page, "By agent")).toEqual(["reviewer", "triage"]);
  expect(await namesIn(page, "By model")).toEqual(["gpt-4o", "gpt-4o-mini"]);
  await page.getByRole("table", { name: "By agent" }).getByRole("button", { name: "tokens" }).click();
  await page
    .getByRole("columnheader", { name: "tokens" })
    .first()
    .and(page.locator("[aria-sort=descending]"))
    .waitFor();
  expect(new URL(page.url()).search).toBe("?days=7&sort=tokens");
  expect(await namesIn(page, "By agent")).toEqual(["triage", "reviewer"]);
  await page.reload();
  const row = page.getByRole("table", { name: "By model" }).getByRole("row").filter({ hasText: "gpt-4o-mini" });
  await row.waitFor();
  expect(await row.locator("td").allTextContents()).toEqual(["2", "51,400", "$0.0079"]);
  expect(await namesIn(page, "By agent")).toEqual(["triage", "reviewer"]);
  for (const [key, name] of [
    ["j", "gpt-4o-mini"],
    ["j", "gpt-4o"],
    ["j", "triage"],
    ["k", "gpt-4o"],
  ] as const) {
    await page.keyboard.press(key);
    await page
      .locator(".row-link:focus")
      .and(page.getByText(name, { exact: true }))
      .waitFor();
  }
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "Done." }).waitFor();
  expect(new URL(page.url()).search).toBe("?model=gpt-4o&since=7d");
  expect(await page.getByRole("row").filter({ hasText: "Done." }).count()).toBe(1);
  await page.goBack();
  await page.getByRole("link", { name: "triage" }).click();
  await page.getByRole("row").filter({ hasText: "Done." }).nth(1).waitFor();
  expectCalm(opened);
});

test("an empty span says what to do, another client sees nothing, and hostile names stay text", async () => {
  const stage = await setConsoleStage();
  const opened = await openConsole(stage.service.url, "usage", { viewport });
  const { page } = opened;
  await seeText(page, "No run has ended in these 30 days");
  await seeText(page, "No run has ended today.");
  await expectFit(page, "no usage");
  await completeRun(stage, { agent: "<img src=x onerror=alert(1)> \u001b[31mred", model: "gpt-<b>bold</b>" });
  await seeText(page, "<img src=x onerror=alert(1)> ␛[31mred");
  await seeText(page, "gpt-<b>bold</b>");
  expect(await page.locator("main :is(img, table b)").count()).toBe(0);
  expectCalm(opened);

  const other = await openConsole(stage.service.url, "usage", { viewport, client: "stranger" });
  await seeText(other.page, "No run has ended in these 30 days");
  expect(await other.page.content()).not.toContain("bold");
});

test("more rows than a page of the service has are all counted, and a long table shows the rest on request", async () => {
  const stage = await setConsoleStage();
  await completeRun(stage, { agent: "first", input: 5_000 });
  const { service } = stage;
  await copyRuns(
    service.databaseUrl,
    "generate_series(1, 180) as number, (values (1)) as days (ago)",
    "'agent ' || number",
  );
  const { page } = await openConsole(service.url, "usage", { viewport });
  await page.locator(".chart").filter({ hasText: "Runs that ended" }).filter({ hasText: "181" }).waitFor();
  expect(await namesIn(page, "By agent")).toHaveLength(10);
  await page.getByRole("button", { name: "Show all 181 agents" }).click();
  await page.getByRole("link", { name: "agent 99" }).waitFor();
  expect(await namesIn(page, "By agent")).toHaveLength(181);
  await copyRuns(service.databaseUrl, "generate_series(2, 29) as days (ago)");
  await page.reload();
  await seeText(page, "There are too many models and agents for 30 days.");
});

test("the limits in force have words and units", async () => {
  const { service, client } = await setConsoleStage({ budgetRunUsd: 0.5, sessionsClientMaxConcurrent: 1 });
  const limits = await client.call(SystemService.method.getLimits, {});
  const { page } = await openConsole(service.url, "usage", { viewport });
  const list = page.locator(".limits > div");
  await list.first().waitFor();
  const words = Object.fromEntries(
    await list.evaluateAll((all) => all.map((each) => [...each.children].map(({ textContent }) => textContent))),
  ) as Record<string, string>;
  expect(words).toMatchObject({
    "Your active runs": "1 run",
    "Duration of a run": `${limits.runSecondsMax} seconds`,
    "Model responses in a run": `${limits.turnsMax} responses`,
    "Tokens of a run": "no limit",
    "Cost of a run": "$0.50",
    "Size of a gRPC or Connect message": "4,194,304 bytes (4.2 MB)",
  });
  expect(Object.keys(words)).toHaveLength(12);
});

test("a provider that fails opens its circuit breaker, which counts down, tests the provider, and closes", async () => {
  const failing = await openProvider();
  const clock = createMovedClock();
  const provider = await openProvider();
  const resetSec = 600;
  const flags = {
    ...modelFlags(provider),
    consoleEnabled: true,
    authAdminToken,
    compatibleBaseUrl: failing.baseUrl,
    circuitMaxFailures: 2,
    circuitResetTimeoutSec: resetSec,
  };
  const service = await startService(flags, { clock });
  const client = new GrpcClient(service.target);
  const { page } = await openConsole(service.url, "usage", { viewport });
  await seeText(page, "The states of the providers need the admin token");
  await enterAdminToken(page, "not-the-admin-token-of-these-tests");
  await page.getByRole("button", { name: "Enter another token" }).click();
  await enterAdminToken(page, authAdminToken);
  const line = (name: string) =>
    page.getByRole("list", { name: "Providers" }).getByRole("listitem").filter({ hasText: name });
  await line("anthropic").filter({ hasText: "not configured" }).waitFor();
  await line("compatible").filter({ hasText: "closed" }).filter({ hasText: "Requests are sent." }).waitFor();
  await seeText(page, "Each replica has its own circuit breakers.");

  failing.respond(fail(503, "down"), fail(503, "down"));
  await endOfRun(client, await startRun(client, "tester", "compatible:small"));
  const open = line("compatible").filter({ hasText: /2 failures in a row\. The next try is in \d+m \d\ds\./ });
  await open.waitFor();
  await expectFit(page, "an open circuit breaker");
  const before = await open.textContent();
  await until("the time to count down", async () => (await open.textContent()) !== before);
  clock.advance(resetSec * 1_000);
  await line("compatible").filter({ hasText: "half open" }).waitFor();
  failing.respond(answer("Back."));
  await endOfRun(client, await startRun(client, "tester", "compatible:small"));
  await line("compatible").filter({ hasText: "closed" }).waitFor();

  await page.getByText(/^\d+ known models$/).click();
  await page
    .getByRole("table", { name: "Known models" })
    .getByRole("row")
    .filter({ hasText: "128,000 tokens" })
    .first()
    .waitFor();
  await seeText(page, "Agents without a model use gpt-4o-mini.");
  await expectFit(page, "known models");
});

test("the picture of the documentation", async () => {
  const stage = await setConsoleStage({ budgetClientDayTokens: 3_000_000, budgetClientDayUsd: 5 });
  for (const spent of [
    { agent: "triage", input: 182_400, output: 9_300 },
    { agent: "triage", input: 96_100, output: 4_700 },
    { agent: "reviewer", model: "gpt-4o", input: 214_800, output: 18_900 },
    { agent: "migrator", model: "gpt-4o", input: 121_500, output: 22_400 },
    { agent: "release notes", input: 41_200, output: 6_100 },
    { agent: "reviewer", model: "o3-mini", input: 88_300, output: 12_700 },
  ]) {
    await completeRun(stage, spent);
  }
  const weekdays = "generate_series(1, 29) as ago, lateral generate_series(1, (ago * 5) % 7) as copy";
  await copyRuns(stage.service.databaseUrl, weekdays, "agent_name", "(2 + (ago * 7 + copy) % 5) / 4");
  const picture = { name: "usage", path: "usage", text: "reviewer" };
  await takePicture(stage.service.url, picture);
});
