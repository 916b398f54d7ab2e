// Summaries of long conversations: what a model gets, what stays, and what a fork, a deletion and a purge do.

import { expect } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, type Script, stopAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { test } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { compaction, filler, openLongTask } from "./long-task.ts";

const { createSession, sendMessage, listMessages, deleteMessage, purgeSession } = SessionService.method;

type Stage = Awaited<ReturnType<typeof openLongTask>>;

const agent = { name: "talker", systemPrompt: "talker", compaction };

/** Says something long, and returns the ended run. */
async function say(stage: Stage, sessionId: string, text: string) {
  const { runId } = await stage.client.call(sendMessage, { sessionId, message: `${text} ${filler(40_000)}` });
  return await stage.ended(runId);
}

/** Says four facts in as many runs: the last run begins with a summary of the first ones. */
async function sayFour(stage: Stage, settings: object = agent) {
  const { sessionId } = await stage.client.call(createSession, { agent: settings });
  const runs = [];
  for (const number of [1, 2, 3, 4]) {
    runs.push(await say(stage, sessionId, `FACT-${number}`));
  }
  return { sessionId, runs };
}

const summariesIn = async (stage: Stage, runId = "") =>
  (await stage.logOf(runId)).flatMap(({ payload, usage }) =>
    payload.case === "contextCompacted" ? [{ ...payload.value, usage }] : [],
  );

test("the oldest messages give way to a summary, which later runs get too", async () => {
  const stage = await openLongTask();
  const { sessionId, runs } = await sayFour(stage);
  const summaries = await Promise.all(runs.map(({ runId }) => summariesIn(stage, runId)));
  expect(summaries.map(({ length }) => length)).toEqual([0, 0, 1, 0]);
  const [summary] = summaries[2] ?? [];
  expect(summary).toMatchObject({ summary: "Known: FACT-1, FACT-2.", model: "compatible:team", messages: 4 });
  expect(Number(summary?.tokensAfter)).toBeLessThan(Number(summary?.tokensBefore) / 2);
  expect(summary?.usage?.totalTokens).toBeGreaterThan(20_000n);
  expect(runs.at(-1)?.output).toBe("I know FACT-1, FACT-2, FACT-3, FACT-4");
  const request = stage.team.requests.at(-1)?.body.messages as { role: string; content: string }[];
  expect(request.map(({ role }) => role)).toEqual(["system", "user", "user", "assistant", "user"]);
  expect(request[1]?.content).toContain("Known: FACT-1, FACT-2.");
  const { messages } = await stage.client.call(listMessages, { sessionId });
  expect(messages).toHaveLength(8);
});

test("a run counts the tokens of its summary", async () => {
  const stage = await openLongTask();
  const { runs } = await sayFour(stage);
  const log = await stage.logOf(runs[2]?.runId ?? "");
  const summed = log.slice(0, -1).reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0n), 0n);
  expect(runs[2]?.usage?.totalTokens).toBe(summed);
});

test("without the setting the oldest messages are left out", async () => {
  const stage = await openLongTask();
  const { runs } = await sayFour(stage, { ...agent, compaction: undefined });
  expect(await summariesIn(stage, runs[3]?.runId)).toEqual([]);
});

test("a fork from before the summary has all messages, and one from after it has the summary", async () => {
  const stage = await openLongTask();
  const { sessionId, runs } = await sayFour(stage);
  const forkOf = async (runId = "") =>
    (await stage.client.call(createSession, { fork: { sessionId, runId } })).sessionId;
  const [before, after] = await Promise.all([forkOf(runs[1]?.runId), forkOf(runs[3]?.runId)]);
  const asked = await stage.client.call(sendMessage, { sessionId: before, message: "and?" });
  expect((await stage.ended(asked.runId)).output).toBe("I know FACT-1, FACT-2");
  expect(await summariesIn(stage, asked.runId)).toEqual([]);
  const later = await stage.client.call(sendMessage, { sessionId: after, message: "and?" });
  expect((await stage.ended(later.runId)).output).toBe("I know FACT-1, FACT-2, FACT-3, FACT-4");
  expect(JSON.stringify(stage.team.requests.at(-1)?.body)).toContain("Known: FACT-1, FACT-2.");
});

const countSummaries = async ({ service }: Stage) =>
  (await query(service.databaseUrl, "select 1 from compaction")).length;

test("a summary goes with a message that it covers, and stays without another one", async () => {
  const stage = await openLongTask();
  const { sessionId } = await sayFour(stage);
  await stage.client.call(deleteMessage, { sessionId, number: 5 });
  expect(await countSummaries(stage)).toBe(1);
  await stage.client.call(deleteMessage, { sessionId, number: 1 });
  expect(await countSummaries(stage)).toBe(0);
});

test("a history that is replaced takes the summary with it", async () => {
  const stage = await openLongTask();
  const { sessionId } = await sayFour(stage);
  const { runId } = await stage.client.call(sendMessage, { sessionId, message: "FACT-9", replaceHistory: true });
  expect((await stage.ended(runId)).output).toBe("I know FACT-9");
  expect(await countSummaries(stage)).toBe(0);
});

test("a purge erases it", async () => {
  const stage = await openLongTask();
  const { sessionId } = await sayFour(stage);
  expect(await countSummaries(stage)).toBe(1);
  await stage.client.call(purgeSession, { sessionId });
  expect(await countSummaries(stage)).toBe(0);
});

test("messages that join the system prompt stay as they are", async () => {
  const stage = await openLongTask({ "talker\n\nFACT-0": (messages) => answer(`I know ${messages[0]?.content}`) });
  const { sessionId } = await stage.client.call(createSession, { agent });
  const text = (role: string, value: string) => ({ role, content: { case: "text", value } }) as const;
  const messages = [text("system", "FACT-0"), text("user", `FACT-1 ${filler(60_000)}`)];
  await stage.client.call(sendMessage, { sessionId, messages });
  const { runId } = await stage.client.call(sendMessage, {
    sessionId,
    message: `FACT-2 ${filler(80_000)}`,
    queueIfBusy: true,
  });
  expect((await stage.ended(runId)).output).toContain("Known: FACT-1.");
});

test("a summary that fails, fails the run with the cause", async () => {
  const stage = await openLongTask({ writer: () => fail(400, "{}") });
  const { runs } = await sayFour(stage);
  expect(runs[2]?.error).toMatch(/^the summary of the conversation failed: /);
});

test("a summary that is cut off, fails the run with what to do", async () => {
  const cut: Script = stopAfter("Known: FACT-", "length");
  const stage = await openLongTask({ writer: () => cut });
  const { runs } = await sayFour(stage);
  expect(runs[2]?.error).toContain("no whole summary within 4096 tokens: raise max_tokens");
});

test("a model for summaries that the service does not have is refused when a message is sent", async () => {
  const stage = await openLongTask();
  const { sessionId } = await stage.client.call(createSession, {
    agent: { ...agent, compaction: { model: "no-such" } },
  });
  await expect(stage.client.call(sendMessage, { sessionId, message: "x" })).rejects.toThrow("no-such");
});

test("a share outside of its range is refused", async () => {
  const stage = await openLongTask();
  const refused = stage.client.call(createSession, { agent: { ...agent, compaction: { percent: 20 } } });
  await expect(refused).rejects.toThrow("compaction.percent must be 0, or 30 to 100");
});
