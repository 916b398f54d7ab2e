// The form of a new run: its folded settings reach the run, the code beside it has them, and a problem stands at its field.

import { expect, test } from "vitest";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools } from "../../fakes/provider.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";
import { setConsoleStage } from "./stage.ts";

const { getRunInput, getRun } = RunService.method;

async function setStage(agentPresets: string[] = []) {
  const stage = await setConsoleStage({ agentPresets });
  const opened = await openConsole(stage.service.url, "new");
  return { ...stage, opened, page: opened.page };
}

const runOf = (url: string): string => new URL(url).pathname.split("/").at(-1) ?? "";

test("the settings under More settings reach the run and the code beside the form, by the keyboard alone", async () => {
  const { provider, client, opened, page } = await setStage();
  provider.respond(callTools({ id: "one", name: "list_dir", arguments: "{}" }), answer('{"ok":true}'));
  await page.getByLabel("Message").fill("Look around.");
  await page.getByRole("group", { name: "Tools" }).getByLabel("list_dir").focus();
  await page.keyboard.press("Space");
  await page.locator("summary", { hasText: "More settings" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  for (const text of ["7", "900", "0.5", "20000"]) {
    await page.keyboard.press("Tab");
    await page.keyboard.type(text);
  }
  await page.getByLabel("Answer", { exact: true }).selectOption("JSON of a schema");
  const schema = '{"type": "object", "properties": {"ok": {"type": "boolean"}}}';
  await page.getByLabel("JSON Schema of the answer").fill(schema);
  await page.getByLabel("Annotations").fill('{"team": "it\'s us"}');
  for (const [language, part] of [
    ["gRPC", '"temperature":0.5'],
    ["TypeScript", '"tokens": 20000n'],
    ["Python", 'annotations="{\\"team\\": \\"it\'s us\\"}"'],
    ["Go", "protojson.Unmarshal"],
    ["OpenAI", '"max_output_tokens": 900'],
    ["curl", '"annotations":{"team":"it\'\\\'\'s us"}'],
  ] as const) {
    await page.getByRole("tab", { name: language }).click();
    await page.getByRole("tabpanel").filter({ hasText: part }).waitFor();
  }
  await expectFit(page, "more settings");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByRole("button", { name: "Approve" }).waitFor();
  const runId = runOf(page.url());
  expect(await client.call(getRunInput, { runId })).toMatchObject({
    annotations: '{"team": "it\'s us"}',
    agent: {
      maxTurns: 7,
      maxTokens: 900,
      temperature: 0.5,
      budget: { tokens: 20_000n },
      responseFormat: { schema },
      tools: { builtin: ["list_dir"], approve: ["list_dir"] },
    },
  });
  const { approvals } = await client.call(ApprovalService.method.listApprovals, {});
  expect(approvals).toMatchObject([{ runId }]);

  // A repetition has them all again.
  await page.getByRole("link", { name: "Run again" }).click();
  await page.locator("summary", { hasText: "More settings" }).click();
  expect(await page.getByLabel("Temperature").inputValue()).toBe("0.5");
  expect(await page.getByLabel("JSON Schema of the answer").inputValue()).toBe(schema);
  expectCalm(opened);
});

test("a problem stands at its field, which opens and gets the keyboard", async () => {
  const { opened, page } = await setStage();
  const start = page.getByRole("button", { name: "Start the run" });
  const focused = (text: string) => page.locator(`.field:has(:focus) .problem`, { hasText: text }).waitFor();
  const more = page.locator("summary", { hasText: "More settings" });
  await page.getByLabel("Message").fill("Hello.");
  await more.click();
  await page.getByLabel("Budget in tokens").fill("many");
  await more.click();
  await start.click();
  await focused("Enter a whole number from 1 to 999,999,999.");
  await page.getByLabel("Budget in tokens").fill("");
  // The service's own checks.
  await page.getByLabel("Temperature").fill("3");
  await start.click();
  await focused("must be between 0 and 2");
  await expectFit(page, "a problem at its field");
  await page.getByLabel("Temperature").fill("1");
  await page.getByLabel("Annotations").fill("[1]");
  await start.click();
  await focused("must be a JSON object");
  expect(await page.locator(".problem").count()).toBe(1);
  expect(await page.locator(".notice").count()).toBe(0);
  expect(opened.foreign).toEqual([]);
});

test("a run starts later, as a preset that keeps its name", async () => {
  const { client, page } = await setStage(['helper={"model":"demo","tools":{"builtin":["list_dir"]}}']);
  await page.getByLabel("Message").fill("Tomorrow.");
  await page.getByLabel("Preset").selectOption("helper");
  await page.locator("summary", { hasText: "More settings" }).click();
  const tomorrow = new Date(Date.now() + 86_400_000);
  const local = new Date(tomorrow.getTime() - tomorrow.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  await page.getByLabel("Start at").fill(local);
  await page.getByRole("tab", { name: "TypeScript" }).click();
  await seeText(page, `timestampFromDate(new Date("${new Date(local).toISOString()}"))`);
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\//);
  const runId = runOf(page.url());
  expect(await client.call(getRunInput, { runId })).toMatchObject({
    agent: { name: "helper", model: "demo", tools: { builtin: ["list_dir"] } },
  });
  const { run } = await client.call(getRun, { runId });
  expect(run?.startTime?.seconds ?? run?.endTime).toBeUndefined();
});

test("a refused run leaves no session behind, and its form stays as it was", async () => {
  const { client, page } = await setStage();
  await page.getByLabel("Message").fill("Look around.");
  await page.getByLabel("Model", { exact: true }).fill("claude-unknown");
  await page.getByRole("button", { name: "Start the run" }).click();
  await page.getByRole("alert").filter({ hasText: "claude-unknown" }).waitFor();
  expect((await client.call(SessionService.method.listSessions, {})).sessions).toEqual([]);
  expect(await page.getByLabel("Message").inputValue()).toBe("Look around.");
});
