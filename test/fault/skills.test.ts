// kill -9 of a run with skills: the next process shows its model the same list, and the log says which SKILL.md has changed meanwhile.

import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools } from "../fakes/provider.ts";
import { openFolder } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const { createSession, sendMessage } = SessionService.method;

test.each([
  ["changed", true],
  ["the same", false],
])("after a kill, a skill that is %s", async (_, isChanged) => {
  const directory = await realpath(await openFolder());
  const write = async (name: string, description: string) => {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\nText.\n`);
  };
  await write("kept", "Stays.");
  await write("edited", "Before.");
  const { provider, environment } = await openProvider();
  const call = { id: "c1", name: "read_file", arguments: JSON.stringify({ file_path: `${directory}/kept/SKILL.md` }) };
  provider.respond(callTools(call), answer("done"), answer("done"));
  const cluster = await openCluster({ ...environment, RUNNEL_AGENTS_SKILLS_DIRECTORY: directory });
  const first = await cluster.start({ RUNNEL_FAILPOINT: "tool.starting" });
  const agent = { name: "fault", maxTurns: 5, tools: { builtin: ["read_file"], skills: ["kept", "edited"] } };
  const { sessionId } = await first.client.call(createSession, { agent });
  const { runId } = await first.client.call(sendMessage, { sessionId, message: "go" });
  await until("the kill", () => !isAlive(first));
  if (isChanged) {
    await write("edited", "After.");
  }
  const second = await cluster.startHere();
  const reader = new LogReader(runId);
  expect(await reader.follow(second.client)).toBe(status.OK);
  await expectInvariants(cluster.databaseUrl);
  const listed = reader.results.flatMap(({ payload }) => (payload.case === "skillsListed" ? [payload.value] : []));
  expect(listed.map(({ changed }) => changed)).toEqual(isChanged ? [[], ["edited"]] : [[]]);
  const [kept, edited] = [0, 1].map((index) => new Set(listed.map(({ skills }) => skills[index]?.sha256)).size);
  expect([kept, edited]).toEqual([1, isChanged ? 2 : 1]);
  const systems = provider.requests.map(({ body }) => JSON.stringify((body.messages as object[])[0]));
  expect(systems.length).toBeGreaterThan(1);
  expect(new Set(systems).size).toBe(1);
  expect(systems[0]).toContain("Before.");
  expect(reader.results.at(-1)?.payload.case).toBe("runCompleted");
});
