// The tree of a run in the console: live states, sums, and a thousand runs.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { ask, boss, callOf, echo, openStage, type Part } from "../../child-runs/team.ts";
import type { Script } from "../../fakes/provider.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

const worker = { name: "worker", description: "Works.", agent: { systemPrompt: "worker" } };
const agentOf = (name: string, ...agents: readonly object[]) => ({
  name,
  systemPrompt: name,
  maxTurns: 5,
  tools: { agents },
});
const memberOf = (name: string, ...agents: readonly object[]) => {
  const { name: _, ...agent } = agentOf(name, ...agents);
  return { name, description: `The ${name}.`, agent };
};

/** Answers with 100 tokens of input and 20 of output. */
const paid =
  (text: string): Script =>
  (wire) => {
    wire.text(text);
    wire.finish("stop");
    wire.usage({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 });
    wire.done();
  };
const paidCalls =
  (...calls: readonly ReturnType<typeof callOf>[]): Script =>
  (wire) => {
    for (const [index, call] of calls.entries()) {
      wire.toolCalls({ index, ...call });
    }
    wire.finish("tool_calls");
    wire.usage({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 });
    wire.done();
  };

test("shows all runs below a run as they work and end, with sums, and leads from one to the other", async () => {
  const gate = Promise.withResolvers<void>();
  const calls = ["a", "b"].map((message) => callOf(message, "middle", { message }));
  const stage = await openStage(
    {
      top: (_, turn) => (turn === 0 ? paidCalls(...calls) : paid("All done.")),
      middle: (_, turn) => (turn === 0 ? paidCalls(callOf("c", "worker", { message: "dig" })) : paid("Dug.")),
      worker: () => async (wire, request) => {
        await gate.promise;
        await paid("A <b>stone</b>\u202e.")(wire, request);
      },
    },
    { consoleEnabled: true, rateLimitRps: 0 },
  );
  const { runId } = await ask(stage.client, agentOf("top", memberOf("middle", worker)));
  const opened = await openConsole(stage.service.url, `runs/${runId}`);
  const { page } = opened;
  await page.getByRole("tab", { name: "Tree" }).click();
  const rows = page.getByRole("treegrid", { name: "Tree of runs" }).getByRole("row");
  const workers = rows.filter({ has: page.getByRole("link", { name: /^worker/ }) });
  await workers.nth(1).filter({ hasText: "running" }).waitFor();
  await seeText(page, "5 runs · 5 active · 3 waiting");
  const levels = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-level")));
  expect(levels).toEqual([null, "1", "2", "3", "2", "3"]);

  gate.resolve();
  await seeText(page, "5 runs · 960 tokens · cost unknown");
  await stage.ended(runId);
  // 2 responses of each but the workers, which have one.
  const top = rows.filter({ has: page.getByRole("link", { name: /^top/ }) });
  expect(await top.locator('[data-column="tokens"]').textContent()).toBe("960 240 own");
  const middle = rows.filter({ has: page.getByRole("link", { name: /^middle/ }) }).first();
  expect(await middle.locator('[data-column="tokens"]').textContent()).toBe("360 240 own");
  expect(await workers.first().locator('[data-column="cost"]').textContent()).toBe("unknown");
  await workers.first().filter({ hasText: "A <b>stone</b>‹U+202E›." }).waitFor();
  await expectFit(page, "the tree of a run");

  await middle.getByRole("button").click();
  expect(await workers.count()).toBe(1);
  await page.keyboard.press("ArrowRight");
  await workers.nth(1).waitFor();
  await workers.nth(1).getByRole("link").click();
  await page.locator('[aria-current="page"]', { hasText: "worker" }).waitFor();
  expect(page.url()).not.toContain(runId);
  // The tree is the same from each of its runs.
  await seeText(page, "5 runs · 960 tokens");
  expectCalm(opened);
});

test("a tree of a thousand runs is complete, its sums are right, and few of its rows are in the document", async () => {
  const ten = Array.from({ length: 10 }, (_, index) => String(index));
  const callTen = (name: string): Part => boss(...ten.map((message) => callOf(message, name, { message })));
  const stage = await openStage(
    { top: callTen("left"), left: callTen("right"), right: callTen("worker"), worker: echo },
    { consoleEnabled: true, rateLimitRps: 0, runsSlots: 40, logLevel: "error" },
  );
  const { runId } = await ask(stage.client, agentOf("top", memberOf("left", memberOf("right", worker))));
  const opened = await openConsole(stage.service.url, `runs/${runId}?tab=tree`);
  const { page } = opened;
  await seeText(page, /^1,111 runs · [\d,]+ tokens/);
  const { run } = await stage.client.call(RunService.method.getRun, { runId });
  let [tokens, pageToken] = [Number(run?.usage?.totalTokens), ""];
  do {
    const list = await stage.client.call(RunService.method.listRuns, { rootRunId: runId, pageSize: 250, pageToken });
    tokens += list.runs.reduce((sum, { usage }) => sum + Number(usage?.totalTokens), 0);
    pageToken = list.nextPageToken;
  } while (pageToken !== "");
  await seeText(page, `1,111 runs · ${tokens.toLocaleString("en-GB")} tokens`);
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  await page.getByRole("link", { name: /^top/ }).focus();
  await page.keyboard.press("j");
  await page.locator(":focus", { hasText: /^left/ }).waitFor();
  expectCalm(opened);
});
