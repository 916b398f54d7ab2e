// kill -9 while a coding agent works on a run. An agent that can load its session goes on, and hears that it was interrupted; another
// one fails its run. No prompt is sent twice, and each started call has one outcome.

import { expect, onTestFinished, test } from "vitest";
import { endOf, lineOf, openSession, send, short } from "../acp/stage.ts";
import { Area } from "../tools/area.ts";
import { hasJail } from "../tools/bash/jailed.ts";
import { getRun, openCluster } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

/** The last result before the kill, and the words of the prompt that leads there. */
const places = [
  ["turnStarted", "deaf"],
  ["messageDelta", "deaf"],
  ["toolCallStarted", "hang"],
  ["approvalRequested", "edit"],
] as const;

const agents = [lineOf("coder"), lineOf("loader", ["load"]), lineOf("resumer", ["resume"])].join("\n");

const cases = places.flatMap(([place, message]) =>
  (["loader", "resumer", "coder"] as const).map((runner) => [runner, place, message] as const),
);

test.skipIf(!hasJail).each(cases)("%s is interrupted at %s", async (runner, place, message) => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.giveToSession();
  const cluster = await openCluster({ RUNNEL_ACP_AGENTS: agents });
  const first = await cluster.start();
  const sessionId = await openSession(first.client, { name: "fault", runner }, area.root);
  const runId = await send(first.client, sessionId, message);
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  await expect.poll(() => reader.count(place), { timeout: 20_000 }).toBe(1);
  await first.kill();
  await following;

  const second = await cluster.startHere();
  await reader.follow(second.client);
  const told = short(reader.results);
  expect(told.filter(([name]) => name === "toolCallStarted")).toHaveLength(reader.count("toolCallCompleted"));
  if (reader.count("toolCallStarted") > 0) {
    expect(told).toContainEqual(["toolCallCompleted", "call_1", interrupted]);
  }
  if (runner === "coder") {
    expect(endOf(reader.results)).toEqual([
      "runFailed",
      "runner.turn_lost",
      expect.stringContaining("this agent cannot continue a session"),
    ]);
  } else {
    expect(told).toContainEqual(["extension", "acp.prompt.interrupted"]);
    const [, , history] = endOf(reader.results) as string[];
    const prompts: string[] = JSON.parse(history ?? "[]");
    // At the start, the agent may not have got the prompt yet.
    expect(prompts.filter((each) => each === message).length).toBeLessThanOrEqual(1);
    expect(prompts.at(-1)).toContain("you were started again");
    expect(prompts.join("\n")).toContain(message);
  }
  expect((await getRun(second.client, runId)).runId).toBe(runId);
  await expectInvariants(cluster.databaseUrl);
});
