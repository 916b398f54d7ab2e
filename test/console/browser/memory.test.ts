// Memories, skills and handoffs in the console.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MemoryScope } from "#gen/runnel/v1/memory_pb.js";
import { MemoryService } from "#gen/runnel/v1/memory_service_pb.js";
import { ask, callOf, openStage, type Part } from "../../child-runs/team.ts";
import { answer, callTools } from "../../fakes/provider.ts";
import { openFolder } from "../../fixtures.ts";
import { expectFit } from "./checks.ts";
import { expectCalm, openConsole, seeText } from "./console-page.ts";

/** Opens a service with the skill `greet`, and an agent that hands over to one that remembers. */
async function setStage() {
  const skillsDirectory = await openFolder();
  await mkdir(join(skillsDirectory, "greet"));
  const front = "name: greet\ndescription: Says <b>hello</b> politely.";
  await writeFile(join(skillsDirectory, "greet/SKILL.md"), `---\n${front}\n---\nSay it.\n`);
  const part: Part = (messages, turn) =>
    messages.some(({ content }) => content?.includes("keeper"))
      ? turn === 1
        ? callTools(callOf("two", "memory_write", { key: "user\u202e", content: "likes <i>tea</i>\nand cake" }))
        : answer("Kept.")
      : callTools(callOf("one", "keeper", { message: "remember keeper" }));
  // The skills are in the system prompts, by which the team knows its agents.
  const parts = new Proxy({}, { get: () => part });
  const stage = await openStage(parts, { skillsDirectory, consoleEnabled: true, rateLimitRps: 0 });
  const memoryScopes = [MemoryScope.SESSION, MemoryScope.AGENT];
  const keeper = { systemPrompt: "keeper", maxTurns: 5, tools: { builtin: ["memory_write"], memoryScopes } };
  const desk = {
    name: "desk",
    systemPrompt: "desk",
    maxTurns: 5,
    tools: {
      builtin: ["read_file"],
      skills: ["greet"],
      agents: [{ name: "keeper", description: "Remembers.", handoff: true, agent: keeper }],
    },
  };
  return { ...stage, desk };
}

test("a run shows its skills and its handoff, and leads to what its agent remembers", async () => {
  const { service, client, desk, ended } = await setStage();
  const { runId } = await ask(client, desk);
  await ended(runId);
  const opened = await openConsole(service.url, `runs/${runId}`);
  const { page } = opened;
  await seeText(page, "Kept.");
  await seeText(page, "Has 1 skill");
  const skills = page.getByRole("list", { name: "Skills" }).getByRole("listitem");
  expect(await skills.first().textContent()).toMatch(/^greet .*greet\/SKILL\.mdSays <b>hello<\/b> politely\.$/);
  await seeText(page, "Handed over to keeper");
  const spans = page.getByRole("list", { name: "Waterfall" }).getByRole("listitem");
  await spans.filter({ hasText: "skills" }).waitFor();
  await spans.filter({ hasText: "handed over to keeper" }).waitFor();
  await expectFit(page, "a run with skills");

  await page.locator(".facts").getByRole("link", { name: "session" }).click();
  await page.getByRole("link", { name: "user‹U+202E›" }).click();
  await page.getByRole("group", { name: "user‹U+202E›" }).waitFor();
  await seeText(page, "likes <i>tea</i>");
  await expectFit(page, "the memory of a session");
  await page.reload();
  await seeText(page, "likes <i>tea</i>");
  expectCalm(opened);
});

test("the memories of a client, an agent and a session are apart, and words find entries", async () => {
  const { service, client } = await setStage();
  const { writeMemory } = MemoryService.method;
  await client.call(writeMemory, { key: "style", value: '{"length":"short"}' });
  await client.call(writeMemory, { key: "plan", agent: "editor", value: '"First the facts."' });
  await client.call(writeMemory, { key: "other", agent: "editor", value: '"Nothing."' });
  const opened = await openConsole(service.url, "runs");
  const { page } = opened;
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.getByRole("link", { name: "style" }).click();
  await seeText(page, '"length": "short"');
  await page.getByLabel("Memory of").selectOption("agent");
  await page.getByLabel("Name of the agent").fill("editor");
  await page.getByRole("button", { name: "Show" }).click();
  const entries = page.getByRole("table", { name: "Entries" }).getByRole("row");
  await entries.filter({ hasText: "plan" }).waitFor();
  expect(await entries.count()).toBe(3);
  await page.getByLabel("Words in the entries").fill("FACTS first");
  await page.keyboard.press("Enter");
  await seeText(page, "First the facts.");
  expect(await entries.count()).toBe(2);
  expect(new URL(page.url()).search).toBe("?agent=editor&search=FACTS+first");
  await expectFit(page, "what a search in a memory finds");
  await page.getByLabel("Memory of").selectOption("agent");
  await page.getByLabel("Name of the agent").fill("nameless");
  await page.getByLabel("Words in the entries").fill("");
  await page.getByRole("button", { name: "Show" }).click();
  await seeText(page, "This memory is empty");
  await expectFit(page, "an empty memory");
  expectCalm(opened);
});
