// Two runs side by side: by two marks in the list, by the address, and from the page of a run.

import { expect, onTestFinished, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { modelFlags } from "../../conformance/stage.ts";
import { answer, callTools, type Script, startFakeProvider } from "../../fakes/provider.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

const viewport = { width: 1280, height: 800 };

async function setStage() {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const service = await startService({ ...modelFlags(provider), consoleEnabled: true, rateLimitRps: 0 });
  const client = new GrpcClient(service.target);
  const complete = async (agent: object, message: string, ...scripts: readonly Script[]): Promise<string> => {
    provider.respond(...scripts);
    const { sessionId } = await client.call(SessionService.method.createSession, { agent });
    const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
    await until("the run to end", async () => {
      const { run } = await client.call(RunService.method.getRun, { runId });
      return run?.endTime !== undefined;
    });
    return runId;
  };
  return { provider, service, complete };
}

const list = (path: string): Script =>
  callTools({ id: "call-1", name: "list_dir", arguments: JSON.stringify({ path }) });

test("two marks in the list lead to what differs in settings, inputs, calls and texts", async () => {
  const { service, complete } = await setStage();
  const agent = { name: "writer", tools: { builtin: ["list_dir"] } };
  const prompt = { ...agent, systemPrompt: "Be brief." };
  const one = await complete(agent, "Greet the world.", list("."), answer("Hello big <b>world</b>, and good day."));
  const other = await complete(
    prompt,
    "Greet the moon.",
    list("src"),
    answer("Hello small <b>world</b>, and good day."),
  );
  const third = await complete(agent, "Greet the sun.", answer("No."));
  const opened = await openConsole(service.url, "runs", { viewport });
  const { page } = opened;
  for (const runId of [third, one, other]) {
    await page.getByRole("checkbox", { name: `Mark ${runId.slice(-8)}` }).check();
  }
  await page.getByRole("checkbox", { name: `Mark ${third.slice(-8)}` }).uncheck();
  await expectFit(page, "marked runs");
  await page.getByRole("link", { name: "Compare the two" }).click();
  expect(new URL(page.url()).search).toBe(`?a=${one}&b=${other}`);
  const text = page.getByRole("region", { name: "Text: different" });
  await text.waitFor();
  expect(await text.locator("del").allTextContents()).toEqual(["big"]);
  expect(await text.locator("ins").allTextContents()).toEqual(["small"]);
  expect(await text.locator("b").count()).toBe(0);
  expect(await page.getByRole("region", { name: "Input: different" }).locator("ins").allTextContents()).toEqual([
    "moon",
  ]);
  expect(await page.getByRole("region", { name: "Settings: different" }).locator("ins").textContent()).toContain(
    "Be brief.",
  );
  const calls = page.getByRole("region", { name: "Tool calls: different" });
  expect(await calls.locator("ins").first().textContent()).toContain("src");
  const facts = page.getByRole("table", { name: "Numbers" });
  expect(await facts.getByRole("row").filter({ hasText: "tool calls" }).locator("td").allTextContents()).toEqual([
    "1",
    "1",
  ]);
  expect(await facts.getByRole("row").filter({ hasText: "model" }).getAttribute("data-differs")).toBeNull();
  await expectFit(page, "two runs side by side");
  await page.getByRole("button", { name: "Swap" }).click();
  await until("the sides to be swapped", async () => (await text.locator("del").allTextContents())[0] === "small");
  await page.reload();
  await text.locator("del").filter({ hasText: "small" }).waitFor();
  expectCalm(opened);
});

test("the page of a run leads to the runs of the same agent to compare with, and equal texts fold", async () => {
  const { service, complete } = await setStage();
  const one = await complete({ name: "writer" }, "Go.", answer("The same."));
  const other = await complete({ name: "writer" }, "Go.", answer("The same."));
  const foreign = await complete({ name: "reader" }, "Go.", answer("Not the same."));
  const opened = await openConsole(service.url, `runs/${one}`, { viewport });
  const { page } = opened;
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByRole("link", { name: other.slice(-8) }).waitFor();
  expect(await page.getByRole("link", { name: foreign.slice(-8) }).count()).toBe(0);
  await expectFit(page, "the choice of a run");
  await page.getByRole("link", { name: other.slice(-8) }).click();
  await seeText(page, "Text: the same in both");
  await seeText(page, "Settings: the same in both");
  expect(await page.locator(":is(ins, del)").count()).toBe(0);
  await page.goBack();
  await page.getByLabel("Id of the other run").fill("no-run");
  await page.getByRole("button", { name: "Compare" }).click();
  await seeText(page, /run_id/);
});

test("a fork is started and compared with its origin in one step", async () => {
  const { provider, service, complete } = await setStage();
  const origin = await complete({ name: "writer" }, "Greet the world.", answer("Hello world."));
  const opened = await openConsole(service.url, `runs/${origin}`, { viewport });
  const { page } = opened;
  await page.getByRole("link", { name: "Fork", exact: true }).click();
  await page.getByLabel("Message").fill("Greet the moon.");
  await expectFit(page, "the form of a fork");
  provider.respond(answer("Hello moon."));
  await page.getByRole("button", { name: "Start and compare" }).click();
  await page.waitForURL((url) => url.pathname === "/console/compare" && url.searchParams.get("a") === origin);
  const text = page.getByRole("region", { name: "Text: different" });
  await text.locator("ins", { hasText: "moon" }).waitFor();
  expect(await text.locator("del").allTextContents()).toEqual(["world"]);
  expectCalm(opened);
});
