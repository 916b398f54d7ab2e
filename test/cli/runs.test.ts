// `runnel runs`: lists, trees, cancels and exports.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask, boss, callOf, echo, openStage } from "../child-runs/team.ts";
import { answer } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { runCommand } from "./command.ts";

const worker = { name: "worker", agent: { systemPrompt: "worker" } };
const agent = { name: "boss", systemPrompt: "boss", maxTurns: 5, tools: { agents: [worker] } };

test("the tree of a run is the same from each of its runs, and a list has what each said", async () => {
  const calls = ["a", "b"].map((message) => callOf(message, "worker", { message }));
  const stage = await openStage({ boss: boss(...calls), worker: echo });
  const { runId, sessionId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const children = (await stage.childrenOf(runId)).map((child) => child.runId);
  const runs = async (...words: string[]) => (await runCommand(["runs", ...words, "--url", stage.service.url])).stdout;

  const tree = (await runs("tree", runId)).split("\n");
  expect(tree.map((line) => line.replace(/ +\d+ .*/, "")).slice(0, 4)).toEqual([
    expect.stringMatching(/^AGENT/),
    expect.stringMatching(/^boss +completed/),
    expect.stringMatching(/^ {2}worker +completed/),
    expect.stringMatching(/^ {2}worker +completed/),
  ]);
  expect(tree[4]).toMatch(/^all +\d+ +– +3 runs$/);
  const { runs: json } = JSON.parse(await runs("tree", children[0] ?? "", "--json"));
  expect(json.map((run: { run_id: string }) => run.run_id)).toEqual([runId, ...children]);

  const watched = (await runs("watch", runId)).split("\n");
  expect(watched).toEqual(
    expect.arrayContaining([
      'boss → worker {"message":"a"}',
      "  worker echo a",
      expect.stringMatching(/^ {2}worker ✓ completed in 1 turn/),
      "boss they said: echo a | echo b",
      expect.stringMatching(/^boss ✓ completed in 2 turns/),
    ]),
  );
  expect(await runs("watch", runId, "--json")).toMatch(/^(\{.*\}\n)+$/);

  expect(await runs("list", "--agent", "worker")).toMatch(/completed +worker +\S+ +\S+ +echo b\n.*echo a/);
  expect(await runs("list", "--session", sessionId)).toContain("they said: echo a | echo b");
  expect(await runs("cancel", runId)).toContain(`run ${runId}  completed`);
});

test("an export has the input, the calls and the texts of a run, in three formats, and keeps an existing file", async () => {
  const stage = await openStage({ boss: boss(callOf("a", "worker", { message: "a" })), worker: echo });
  const { runId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const runs = (...words: string[]) => runCommand(["runs", "export", runId, ...words, "--url", stage.service.url]);

  const markdown = (await runs()).stdout;
  expect(markdown).toContain(`# Run ${runId}\n\n* state: \` completed \`\n* agent: \` boss \`\n`);
  expect(markdown).toContain('**Call of worker**\n\n```\n{"message":"a"}\n```');
  expect(markdown).toContain("> they said: echo a");
  const file = join(await openFolder(), "run.html");
  expect((await runs("--format", "html", "--out", file)).stdout).toBe(`wrote ${file}\n`);
  const page = readFileSync(file, "utf8");
  expect(page).toContain("they said: echo a");
  expect((await runs("--format", "html", "--out", file)).code).not.toBe(0);
  const json = JSON.parse((await runs("--format", "json")).stdout);
  expect(json).toMatchObject({
    run: { run_id: runId, state: "STATE_COMPLETED" },
    messages: [{ role: "user" }],
    agent: { name: "boss" },
  });
  expect(json.results.map(({ sequence }: { sequence: string }) => Number(sequence))).toEqual(
    json.results.map((_: unknown, index: number) => index + 1),
  );
  expect(JSON.parse((await runs("--json")).stdout)).toMatchObject({ run_id: runId, format: "md", text: markdown });
});

test("the calls of a run have a line each, and with JSON what was sent and answered", async () => {
  const stage = await openStage({ boss: () => answer("A curlew calls."), worker: echo }, { keepModelCalls: true });
  const { runId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const calls = async (...words: string[]) =>
    (await runCommand(["runs", "calls", runId, ...words, "--url", stage.service.url])).stdout;
  expect(await calls()).toMatch(/^CALL +TURN +MODEL .*\n\S+ +1 +\S+ +200 +\d+ +\d+ B +\d+ B/);
  const { model_calls: json } = JSON.parse(await calls("--json"));
  expect(json).toMatchObject([{ turn: 1, status: 200, answer: expect.stringContaining("A curlew calls.") }]);
});

test("a list with --search has the runs with the words, and what stands around them", async () => {
  const stage = await openStage({ boss: () => answer("A curlew calls."), worker: echo });
  const { runId } = await ask(stage.client, agent);
  await stage.ended(runId);
  const list = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCommand(["runs", "list", ...words, "--url", stage.service.url]);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await until("the text", async () => (await list("--search", "curlew")).includes("A curlew calls."));
  expect(await list("--search", "curlew -calls")).not.toContain(runId);
  const { matches } = JSON.parse(await list("--search", "Curlew", "--json"));
  expect(matches[0]).toMatchObject({
    run: { run_id: runId },
    snippet: expect.arrayContaining([{ text: "curlew", is_match: true }]),
  });
});
