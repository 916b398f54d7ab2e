// The public skills of github.com/anthropics/skills, unmodified, of the checkout in ANTHROPIC_SKILLS_DIR: an agent has all of them at once,
// reads the text of one, and runs a script of one in the jail. One whose description is longer than the format allows is refused, as
// `claude-api` of July 2026 is. The model is a fake.

import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { ask, callOf, openStage } from "../child-runs/team.ts";
import { answer, callTools } from "../fakes/provider.ts";

test("an agent has all public skills, reads one and runs a script of one", async () => {
  const directory = await realpath(join(process.env.ANTHROPIC_SKILLS_DIR ?? "", "skills"));
  const skills = (await readdir(directory)).toSorted();
  expect(skills.length).toBeGreaterThan(10);
  const calls = [
    callOf("c0", "read_file", { file_path: `${directory}/pdf/SKILL.md` }),
    callOf("c1", "bash", { command: `python3 ${directory}/webapp-testing/scripts/with_server.py --help` }),
  ];
  const part = (messages: readonly { readonly role: string; readonly content: string }[], turn: number) => {
    const call = calls[turn];
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    return call === undefined ? answer(results.join("\n|\n")) : callTools(call);
  };
  const stage = await openStage(new Proxy({}, { get: () => part }), { skillsDirectory: directory });
  const start = async (names: readonly string[]) => {
    const tools = { builtin: ["read_file", "bash"], skills: names };
    const { runId } = await ask(stage.client, { name: "skilled", maxTurns: 5, tools });
    return await stage.ended(runId);
  };
  const isTooLong = async (name: string) =>
    /description must be a text of 1 to 1024 characters$/.test((await start([name])).error);
  const valid: string[] = [];
  for (const name of skills) {
    if (!(await isTooLong(name))) {
      valid.push(name);
    }
  }
  expect(valid.length).toBeGreaterThan(skills.length - 3);
  const run = await start(valid);
  expect(run).toMatchObject({ state: Run_State.COMPLETED, error: "" });
  const [text, help] = run.output.split("\n|\n");
  expect(text).toContain("name: pdf");
  expect(help).toMatch(/usage: with_server\.py/);
  const [listed] = (await stage.logOf(run.runId)).map(({ payload }) => payload);
  expect(listed?.case === "skillsListed" && listed.value.skills.map(({ name }) => name)).toEqual(valid);
});
