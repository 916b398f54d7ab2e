// Many tabs over HTTP/1.1, where a browser opens six connections to a service for all of them. Each page of a headless browser is
// visible, as windows side by side are.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { credentialsOf, keyOf } from "../../harness/credentials.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { openConsole, seeBadge, seeText, setVisibility } from "./console-page.ts";

const tabsCount = 6;

async function startDemoRun(client: GrpcClient, message: string): Promise<string> {
  const agent = { name: "tester", model: "demo" };
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  return (await client.call(SessionService.method.sendMessage, { sessionId, message })).runId;
}

/** Opens more tabs of the browser that has the page. */
async function openTabs(page: Page, urls: readonly string[]): Promise<readonly Page[]> {
  const tabs = [page];
  for (const url of urls) {
    const tab = await page.context().newPage();
    await tab.goto(url);
    tabs.push(tab);
  }
  return tabs;
}

async function seeRun(tabs: readonly Page[], runId: string): Promise<void> {
  for (const tab of tabs) {
    await tab
      .getByRole("row")
      .filter({ hasText: runId.slice(-8) })
      .filter({ hasText: "completed" })
      .waitFor();
  }
}

test("six tabs with the list share two streams, and go on when the tab that holds them is closed", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const { page } = await openConsole(service.url, "runs");
  const streams: string[] = [];
  page.context().on("request", (request) => {
    if (/\/Watch\w+$/.test(request.url())) {
      streams.push(new URL(request.url()).pathname);
    }
  });
  await seeBadge(page, /^live$/);
  streams.length = 0;
  const tabs = await openTabs(page, Array<string>(tabsCount - 1).fill(`${service.url}/console/runs`));
  const first = await startDemoRun(client, "words=3 pace=0");
  await seeRun(tabs, first);
  expect(streams).toEqual([]);

  await page.close();
  const rest = tabs.slice(1);
  const second = await startDemoRun(client, "words=3 pace=0");
  await seeRun(rest, second);
  expect(streams.sort()).toEqual(["/runnel.v1.ApprovalService/WatchApprovals", "/runnel.v1.RunService/WatchRuns"]);
  for (const tab of rest) {
    await seeBadge(tab, /^live$/);
  }
});

test("a tab with the key of another client gets nothing of what the others share", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const { page } = await openConsole(service.url, "runs");
  const tabs = await openTabs(page, Array<string>(2).fill(`${service.url}/console/runs`));
  const stranger = tabs[2] ?? page;
  await seeRun(tabs, await startDemoRun(client, "words=1 pace=0"));
  const errors: string[] = [];
  stranger.on("pageerror", (error) => errors.push(String(error)));
  await stranger.getByRole("button", { name: "Credentials" }).click();
  await stranger.getByLabel("API key").fill(keyOf("stranger"));
  // A hidden tab waits to be seen: a new key ends that wait.
  await setVisibility(stranger, "hidden");
  await stranger.getByRole("button", { name: "Use this key" }).click();
  await stranger.getByRole("dialog").waitFor({ state: "detached" });
  await setVisibility(stranger, "visible");
  await seeText(stranger, "No runs yet");
  await seeRun(tabs.slice(0, 2), await startDemoRun(client, "words=1 pace=0"));
  const own = await startDemoRun(new GrpcClient(service.target, credentialsOf("stranger")), "words=1 pace=0");
  await seeRun([stranger], own);
  expect(await stranger.locator(".run-row").count()).toBe(1);
  expect(await page.locator(".run-row").count()).toBe(2);
  expect(errors).toEqual([]);
});

test("six tabs with a run each all reach its end, and calls go through meanwhile", async () => {
  const service = await startService({ consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const runIds: string[] = [];
  for (let index = 0; index < tabsCount; index += 1) {
    runIds.push(await startDemoRun(client, "words=400 pace=20"));
  }
  const [first, ...others] = runIds.map((runId) => `${service.url}/console/runs/${runId}`);
  const { page } = await openConsole(service.url, new URL(first ?? "").pathname.replace("/console/", ""));
  const tabs = await openTabs(page, others);
  expect(await page.evaluate(async () => (await fetch("/version")).status)).toBe(200);
  await Promise.any(tabs.map((tab) => seeBadge(tab, /^waits for another tab/)));
  for (const [index, tab] of tabs.entries()) {
    await seeBadge(tab, /^ended, complete · at \d+$/);
    const { run } = await client.call(RunService.method.getRun, { runId: runIds[index] ?? "" });
    const text = await tab.locator(".said .markdown").last().innerText();
    expect(text.match(/\S+/g)).toEqual(run?.output.match(/\S+/g));
  }
});
