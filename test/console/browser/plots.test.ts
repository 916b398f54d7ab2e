// Plots in the console: numbers over time by agent, model and client, zoom, and the way to the runs behind a point.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Config } from "../../../src/platform/config/keys.ts";
import { endOfRun } from "../../conformance/stage.ts";
import type { Script } from "../../fakes/provider.ts";
import { fail } from "../../fakes/wire-server.ts";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { enterAdminToken, expectCalm, openConsole, seeText } from "./console-page.ts";
import { takePicture } from "./pictures.ts";
import { setConsoleStage } from "./stage.ts";

const authAdminToken = "the-admin-token-of-these-tests";
const viewport = { width: 1280, height: 800 };

async function setStage(flags: Partial<Config> = {}) {
  const { provider, service, client, start } = await setConsoleStage(flags);
  /** Runs one run to its end. */
  const complete = async (agent: string, script: Script = used, model = "gpt-4o-mini"): Promise<string> => {
    provider.respond(script);
    return (await endOfRun(client, await start({ name: agent, model }))).runId;
  };
  return { service, complete };
}

const used: Script = (wire) => {
  wire.text("Done.");
  wire.finish("stop");
  wire.usage({ prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 });
  wire.done();
};
const broken: Script = fail(400, JSON.stringify({ error: { message: "broken" } }));

function chart(page: Page, title: string) {
  return page.locator(".chart").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
}

async function cellsOf(page: Page, name: string): Promise<readonly string[]> {
  const row = page.getByRole("table", { name: "Sums of this time" }).getByRole("row").filter({ hasText: name });
  await row.waitFor();
  return await row.locator("td").allTextContents();
}

test("each ended run counts at once, and a point leads to the runs behind it by mouse and keyboard", async () => {
  const stage = await setStage();
  const opened = await openConsole(stage.service.url, "plots?last=1h", { viewport });
  const { page } = opened;
  await seeText(page, "No run has ended in this time");
  await expectFit(page, "no plots");
  await stage.complete("triage");
  await stage.complete("triage");
  const failed = await stage.complete("reviewer", broken);
  await chart(page, "Runs that ended").filter({ hasText: "last 1h" }).filter({ hasText: "3" }).waitFor();
  await chart(page, "Runs that failed").filter({ hasText: "1" }).waitFor();
  await chart(page, "Tokens, output on top")
    .filter({ hasText: "2,000 input" })
    .filter({ hasText: "400 output" })
    .waitFor();
  for (const title of ["Duration of a run", "Time to the first text"]) {
    await chart(page, title)
      .filter({ hasText: /[\d.]+ m?s p50/ })
      .filter({ hasText: /[\d.]+ m?s p99/ })
      .waitFor();
  }
  await expectFit(page, "plots");
  // The values of some charts need two lines.
  const tops = await page.evaluate<number[]>(
    '[...document.querySelectorAll("[role=slider]")].map((plot) => plot.getBoundingClientRect().top)',
  );
  expect(new Set(tops).size, "rows of charts").toBe(2);
  await page.setViewportSize({ width: 390, height: 844 });
  expect((await page.getByText("last 24h", { exact: true }).boundingBox())?.height, "one line").toBeLessThan(40);
  await page.setViewportSize(viewport);
  await page.getByText("The same numbers as a table").click();
  await page.getByRole("table", { name: "Numbers over time, newest first" }).waitFor();
  await expectFit(page, "the table of plots");

  const slider = page.getByRole("slider", { name: "Runs that failed" });
  await slider.focus();
  await page.keyboard.press("End");
  const text = async (): Promise<string> => (await slider.getAttribute("aria-valuetext")) ?? "";
  // The last period may have begun after the failure.
  await until("the failure", async () => {
    const isThere = (await text()).endsWith(": 1");
    await page.keyboard.press(isThere ? "Shift" : "ArrowLeft");
    return isThere;
  });
  await page.keyboard.press("Enter");
  await page
    .getByRole("row")
    .filter({ hasText: failed.slice(-8) })
    .waitFor();
  const address = new URL(page.url()).searchParams;
  expect([address.get("state"), address.get("time")]).toEqual(["failed", "changed"]);
  expect(Date.parse(address.get("to") ?? "") - Date.parse(address.get("from") ?? "")).toBe(60_000);
  expect(await page.getByRole("row").filter({ hasText: "reviewer" }).count()).toBe(1);
  expect(await page.getByRole("row").filter({ hasText: "triage" }).count()).toBe(0);
  await expectFit(page, "runs behind a point");
  await page.goBack();

  // A click in the last quarter of an hour, a quarter of the chart.
  const plot = page.getByRole("slider", { name: "Runs that ended" });
  const box = await plot.boundingBox();
  expect(box).not.toBeNull();
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width * 0.7, y + height / 2);
  await page.mouse.down();
  // The newest period is at the edge.
  await page.mouse.move(x + width + 40, y + height / 2);
  await page.mouse.up();
  await page.getByRole("button", { name: "leave this span" }).waitFor();
  const zoomed = new URL(page.url()).searchParams;
  const minutes = (Date.parse(zoomed.get("to") ?? "") - Date.parse(zoomed.get("from") ?? "")) / 60_000;
  expect(minutes).toBeGreaterThanOrEqual(18);
  expect(minutes).toBeLessThanOrEqual(20);
  await chart(page, "Runs that ended").filter({ hasText: "this span" }).filter({ hasText: "3" }).waitFor();
  await page.reload();
  await chart(page, "Runs that ended").filter({ hasText: "this span" }).filter({ hasText: "3" }).waitFor();
  await page.goBack();
  await chart(page, "Runs that ended").filter({ hasText: "last 1h" }).waitFor();
  await plot.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "leave this span" }).waitFor();
  const chosen = new URL(page.url()).searchParams;
  expect(Date.parse(chosen.get("to") ?? "") - Date.parse(chosen.get("from") ?? "")).toBe(3 * 60_000);
  expectCalm(opened);
});

test("agents and models have lines of their own, and a name leads to its plots alone", async () => {
  const stage = await setStage();
  await stage.complete("triage");
  await stage.complete("triage", used, "gpt-4o");
  await stage.complete("<img src=x onerror=alert(1)>", broken);
  await stage.complete("unpriced", used, "gpt-house");
  const opened = await openConsole(stage.service.url, "plots?last=6h&by=agent", { viewport });
  const { page } = opened;
  expect((await cellsOf(page, "triage")).slice(0, 2)).toEqual(["2", "0"]);
  expect((await cellsOf(page, "<img src=x")).slice(0, 2)).toEqual(["1", "1"]);
  expect(await page.locator("main img").count()).toBe(0);
  expect((await cellsOf(page, "triage")).at(-1)).toMatch(/^\$0\.0/);
  expect((await cellsOf(page, "unpriced")).at(-1)).toBe("unknown");
  await chart(page, "Cost")
    .filter({ hasText: /– unpriced/ })
    .waitFor();
  await chart(page, "Duration of a run, p95").filter({ hasText: "triage" }).waitFor();
  expect(await page.locator(".chart path[data-series='1']").count()).toBe(6);
  await expectFit(page, "plots by agent");
  await page.getByRole("link", { name: "triage" }).click();
  await page.getByLabel("Series").selectOption("model");
  expect((await cellsOf(page, "gpt-4o-mini")).slice(0, 2)).toEqual(["1", "0"]);
  const address = new URL(page.url()).searchParams;
  expect([address.get("agent"), address.get("by"), address.get("last")]).toEqual(["triage", "model", "6h"]);
  await page.getByRole("radio", { name: "last 90d" }).check({ force: true });
  await chart(page, "Runs that ended").filter({ hasText: "last 90d" }).waitFor();
  expectCalm(opened);
  const other = await openConsole(stage.service.url, "plots", { viewport, client: "stranger" });
  await seeText(other.page, "No run has ended in this time");
});

test("the operator sees all clients, after the admin token", async () => {
  const stage = await setStage({ authAdminToken });
  await stage.complete("triage");
  const { page } = await openConsole(stage.service.url, "plots", { viewport, client: "stranger" });
  await seeText(page, "No run has ended in this time");
  await page.getByLabel("Whose runs").selectOption("all");
  await seeText(page, "The runs of all clients need the admin token");
  await enterAdminToken(page, authAdminToken);
  await chart(page, "Runs that ended").filter({ hasText: "1" }).waitFor();
  await page.getByLabel("Series").selectOption("client");
  const rows = page.getByRole("table", { name: "Sums of this time" }).locator("tbody tr");
  await rows.getByText("/").waitFor();
  expect(await rows.count()).toBe(1);
  await expectFit(page, "plots of all clients");
});

test("the picture of the documentation", async () => {
  const stage = await setStage();
  for (const agent of ["triage", "reviewer", "migrator"]) {
    await stage.complete(agent, used, agent === "triage" ? "gpt-4o-mini" : "gpt-4o");
  }
  // A month of runs like these, with more of them lately.
  await query(
    stage.service.databaseUrl,
    `with copied as (
      insert into run (id, client, session, driver, input, status, epoch, deadline, terminal, model, agent_name, start_time, end_time,
        prompt_tokens, completion_tokens, cost_micro_usd)
      select gen_random_uuid(), client, session, driver, input, case when (n * 7) % 23 = 0 then 'failed' else status end, epoch, deadline,
        terminal, model, agent_name, moment - (800 + (n * 6151) % 9000) * interval '1 millisecond', moment,
        prompt_tokens * (1 + n % 9), completion_tokens * (1 + n % 7), cost_micro_usd * (1 + n % 8)
      from run, generate_series(1, 700) as n,
        lateral (select now() - (41000 * pow(n / 700.0, 1.0 + (n % 3) / 4.0)) * interval '1 minute' as moment) as at
      returning id
    ) insert into ended_run (run_id, first_text_ms) select id, 300 + (row_number() over () * 7919) % 900 from copied`,
  );
  await takePicture(stage.service.url, { name: "plots", path: "plots?last=30d", text: "Sums of this time" });
});
