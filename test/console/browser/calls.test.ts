// The calls of models of a run in the console: loaded when a person looks, and shown as text.

import { expect, test } from "vitest";
import { ask, boss, callOf, echo, openStage } from "../../child-runs/team.ts";
import { answer } from "../../fakes/provider.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

const worker = { name: "worker", agent: { systemPrompt: "worker" } };
const agent = { name: "boss", systemPrompt: "boss", maxTurns: 5, tools: { agents: [worker] } };
const hostile = "<img src=x onerror=alert(1)>\u202e";

test("shows what was sent and answered in each turn, when a person opens it", async () => {
  const flags = { consoleEnabled: true, rateLimitRps: 0, keepModelCalls: true };
  const stage = await openStage({ boss: boss(callOf("a", "worker", { message: hostile })), worker: echo }, flags);
  const { runId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const opened = await openConsole(stage.service.url, `runs/${runId}`);
  const { page, requests } = opened;
  await page.getByRole("tab", { name: "Calls" }).waitFor();
  const asked = () => requests.filter((each) => each.url().includes("/ListModelCalls")).length;
  expect(asked()).toBe(0);
  await page.getByRole("tab", { name: "Calls" }).click();
  await page.locator("summary", { hasText: "Turn 2" }).click();
  const body = page.getByRole("group", { name: "request", exact: true });
  await body.getByText('"system"').first().waitFor();
  expect(await body.textContent()).toContain("onerror=alert(1)");
  expect(await page.getByRole("group", { name: "answer", exact: true }).textContent()).toContain("data: [DONE]");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  await expectFit(page, "calls of a run");
  expectCalm(opened);
});

test("says how to keep calls where none are kept", async () => {
  const stage = await openStage(
    { boss: () => answer("Done."), worker: echo },
    { consoleEnabled: true, rateLimitRps: 0 },
  );
  const { runId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const { page } = await openConsole(stage.service.url, `runs/${runId}?tab=calls`);
  await seeText(page, "No calls are kept");
  await seeText(page, "RUNNEL_PROVIDERS_KEEP_CALLS=true");
});
