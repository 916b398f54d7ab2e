// `providers`, `usage` and `sessions purge` against a real service.

import { expect, test } from "vitest";
import { startService } from "../harness/service.ts";
import { runCommand, runInTerminal, startWithProvider } from "./command.ts";

const token = "admin-token-for-the-tests";

test("providers shows which can be used, and the state of their circuit breakers", async () => {
  const { url } = await startWithProvider({ authAdminToken: token, openaiKey: "canary-key" });
  const environment = { RUNNEL_ADMIN_TOKEN: token };
  const human = await runCommand(["providers", "--url", url], { environment });
  expect({ code: human.code, stderr: human.stderr }).toEqual({ code: 0, stderr: "" });
  expect(human.stdout).toMatch(/^PROVIDER +CONFIGURED +CIRCUIT +FAILURES +RETRY AT\n/);
  expect(human.stdout).toMatch(/^openai +yes +closed +0 +–$/m);
  expect(human.stdout).toMatch(/^anthropic +no +– +0 +–$/m);
  const json = await runCommand(["providers", "--json", "--url", url], { environment });
  expect(JSON.parse(json.stdout).providers).toContainEqual(
    expect.objectContaining({ name: "openai", configured: true, circuit: "closed" }),
  );
  expect(human.stdout + json.stdout).not.toContain("canary");
});

test("usage shows today's usage beside the budget", async () => {
  const { url } = await startService({ budgetClientDayTokens: 1_000_000, budgetClientDayUsd: 2.5 });
  expect((await runCommand(["run", "hello pace=0", "--url", url])).code).toBe(0);
  const human = await runCommand(["usage", "--url", url]);
  expect({ code: human.code, stderr: human.stderr }).toEqual({ code: 0, stderr: "" });
  expect(human.stdout).toMatch(/^\d{4}-\d\d-\d\d +USED +BUDGET\ntokens +\d+ +1000000\nUS dollars +unknown +2\.50\n$/);
  const json = await runCommand(["usage", "--json", "--url", url]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    day: expect.any(String),
    tokens_max: 1_000_000,
    cost_micro_usd_max: 2_500_000,
  });
});

test("usage shows what was used without a budget, too", async () => {
  const { provider, url } = await startWithProvider();
  provider.respond((wire) => {
    wire.text("hello");
    wire.finish("stop");
    wire.usage({ prompt_tokens: 400, completion_tokens: 44 });
    wire.done();
  });
  expect((await runCommand(["usage", "--url", url])).stdout).toMatch(/tokens +0 +no limit\n/);
  expect((await runCommand(["run", "hello", "--model", "gpt-4o", "--url", url])).code).toBe(0);
  expect((await runCommand(["usage", "--url", url])).stdout).toMatch(/^\d{4}-\d\d-\d\d .*\ntokens +444 +no limit\n/);
});

test("usage by agent, model and client adds up ended runs, and clients need the admin token", async () => {
  const { url } = await startService({ authAdminToken: token });
  expect((await runCommand(["usage", "--by", "agent", "--url", url])).stdout).toMatch(/^AGENT .*US DOLLARS\n$/);
  expect((await runCommand(["run", "hello pace=0", "--url", url])).code).toBe(0);
  const times = "[\\d.]+ s +[\\d.]+ s +[\\d.]+ s +[\\d.]+ s";
  const human = await runCommand(["usage", "--by", "agent", "--last", "1h", "--url", url]);
  expect(human.stdout).toMatch(new RegExp(`\\n\\S+ +1 +0 +0 +${times} +\\d+ +unknown\\n$`));
  const json = await runCommand(["usage", "--by", "model", "--json", "--url", url]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    step_seconds: 300,
    series: [{ name: "demo", total: { completed: 1, failed: 0 }, points: [{ completed: 1 }] }],
  });
  const refused = await runCommand(["usage", "--by", "client", "--url", url]);
  expect(refused).toMatchObject({ stdout: "" });
  expect(refused.code).not.toBe(0);
  const asAdmin = await runCommand(["usage", "--by", "client", "--url", url], {
    environment: { RUNNEL_ADMIN_TOKEN: token },
  });
  expect(asAdmin.stdout).toMatch(/\nkey\/\S+ +1 +0 +0 /);
});

test("purge erases the content of a session, and is refused to programs without --yes", async () => {
  const { url } = await startService();
  const run = await runCommand(["run", "hello pace=0 words=5", "--json", "--url", url]);
  const { session_id: sessionId, run_id: runId } = JSON.parse(run.stderr);
  for (const flags of [[], ["--json"]]) {
    const refused = await runCommand(["sessions", "purge", sessionId, "--url", url, ...flags]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("add --yes if you mean it");
  }
  expect((await runCommand(["tail", runId, "--url", url])).stdout).toContain("demo model");
  const purged = await runCommand(["sessions", "purge", sessionId, "--yes", "--url", url]);
  const erased = new RegExp(`^purged ${sessionId}: 1 run, [1-9]\\d* results erased now\\n$`);
  expect(purged).toEqual({ code: 0, stdout: expect.stringMatching(erased), stderr: "" });
  expect((await runCommand(["tail", runId, "--url", url])).stdout).not.toContain("demo model");
  const again = await runCommand(["sessions", "purge", sessionId, "--yes", "--json", "--url", url]);
  expect(JSON.parse(again.stdout)).toMatchObject({ runs: 1, results: 0 });
});

test("a person is asked, and only yes is accepted", async () => {
  const { url } = await startService();
  const run = await runCommand(["run", "hello pace=0 words=5", "--json", "--url", url]);
  const { session_id: sessionId } = JSON.parse(run.stderr);
  const words = ["sessions", "purge", sessionId, "--url", url];
  for (const input of ["n\n", "\n"]) {
    const { code, stdout } = await runInTerminal(words, { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("nothing was purged") });
  }
  const { code, stdout } = await runInTerminal(words, { input: "yes\n" });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/permanently\? \[y\/N\].*purged /s) });
});
