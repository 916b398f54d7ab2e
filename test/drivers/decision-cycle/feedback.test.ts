// Feedback on an agent's actions: delivered once, with the next cycle whose model answers, at most ten entries at a time.

import { expect, test } from "vitest";
import { fail } from "../../fakes/wire-server.ts";
import { setStage } from "./stage.ts";

const tx = (threadId: string) => ({
  action: "tx",
  communitySlug: "home",
  threadId,
  contractAddress: "0xAbC",
  functionName: "mint",
  args: ["1", true],
  value: "5",
});
const feedbackOn = (threadId: string) => ({
  type: "tx_feedback",
  communitySlug: "home",
  threadId,
  contractAddress: "0xAbC",
  functionName: "mint",
  args: ["1", true],
  value: "5",
  result: { error: "Execution wallet or Alchemy key missing." },
});

test("feedback is delivered with the next cycle, and is kept when the model or the reading of the forum fails", async () => {
  const stage = await setStage();
  stage.say([tx("t1"), { action: "tx", communitySlug: "home", threadId: "t2", args: [9007199254740993n.toString()] }]);
  expect((await stage.cycle()).result.actions.map(({ error }: { error: string }) => error)).toEqual([
    "Execution wallet or Alchemy key missing.",
    "functionName is missing: give the name of a function of the contract",
  ]);
  const expected = [
    feedbackOn("t1"),
    {
      type: "tx_feedback",
      communitySlug: "home",
      threadId: "t2",
      contractAddress: null,
      functionName: null,
      args: ["9007199254740993"],
      value: null,
      result: { error: "functionName is missing: give the name of a function of the contract" },
    },
  ];
  stage.provider.respond(fail(400, '{"error":{"message":"no"}}'), fail(400, '{"error":{"message":"no"}}'));
  for (const index of [1, 2]) {
    expect((await stage.cycle()).result).toMatchObject({ ok: false });
    expect(stage.shown(index).context.runnerInbox).toEqual(expected);
  }
  // The call of the model succeeded, so the feedback counts as delivered, although the answer was invalid.
  stage.say('{"action": ', []);
  expect((await stage.cycle()).result).toMatchObject({ ok: false });
  expect(stage.shown(3).context.runnerInbox).toEqual(expected);
  await stage.cycle();
  expect(stage.shown(4).context.runnerInbox).toEqual([]);
});

test("more than ten entries are delivered over several cycles, in order, and only to their agent", async () => {
  const stage = await setStage();
  const ids = Array.from({ length: 13 }, (_, index) => `t${index}`);
  stage.say(ids.map(tx), [], [], []);
  await stage.cycle();
  await stage.cycle(stage.other.id);
  await stage.cycle();
  await stage.cycle();
  const told = [1, 2, 3].map((index) =>
    stage.shown(index).context.runnerInbox.map(({ threadId }: { threadId: string }) => threadId),
  );
  expect(told).toEqual([[], ids.slice(0, 10), ids.slice(10)]);
});

test("the queue of an agent that always asks for more is bounded, and the agent learns why the rest was not done", async () => {
  const stage = await setStage();
  const accepted: string[] = [];
  const refused: string[] = [];
  const queued: number[] = [];
  const asked = 30;
  for (let cycle = 0; cycle < 8; cycle++) {
    const ids = Array.from({ length: asked }, (_, index) => `c${cycle}-${index}`);
    stage.say(ids.map(tx));
    const { actions } = (await stage.cycle()).result;
    for (const [index, { error }] of actions.entries()) {
      (error === feedbackOn("").result.error ? accepted : refused).push(`${ids[index]} ${error}`);
    }
    queued.push((await stage.query("select count(*)::int as count from agent_feedback"))[0]?.count as number);
  }
  // Fifty, and one entry with the reason why more was refused.
  expect(queued).toEqual([30, 50, ...Array(6).fill(51)]);
  expect(refused).toHaveLength(8 * asked - accepted.length);
  const reason =
    "not done: 50 results of earlier actions wait to be delivered, 10 in each cycle; ask again in a later cycle";
  expect(refused.every((each) => each.endsWith(` ${reason}`))).toBe(true);
  for (let cycle = 0; cycle < 7; cycle++) {
    stage.say([]);
    await stage.cycle();
  }
  const told: { threadId: string; result: { error: string } }[] = stage.provider.requests.flatMap(
    (_, index) => stage.shown(index).context.runnerInbox,
  );
  const reasons = told.filter(({ result }) => result.error === reason);
  // One for each cycle that found the queue full.
  expect(reasons).toHaveLength(6);
  // Each accepted entry is delivered once and in order.
  expect(
    told.filter((each) => !reasons.includes(each)).map(({ threadId, result }) => `${threadId} ${result.error}`),
  ).toEqual(accepted);
  expect(await stage.query("select id from agent_feedback")).toEqual([]);
});

test("the queue has its maximum after a cycle with more actions than it holds", async () => {
  const stage = await setStage({ decisionsNewerActions: true });
  const comments = { action: "request_thread_comments", communitySlug: "home", threadId: "t" };
  stage.say([
    ...Array.from({ length: 49 }, (_, index) => tx(`t${index}`)),
    ...Array.from({ length: 40 }, (_, index) => ({ ...comments, threadId: `r${index}` })),
    ...Array.from({ length: 40 }, (_, index) => tx(`u${index}`)),
    { action: "comment", communitySlug: "home", threadId: "missing", body: "x" },
  ]);
  const { actions } = (await stage.cycle()).result;
  expect(actions).toHaveLength(130);
  const [row] = await stage.query("select count(*)::int as count from agent_feedback");
  expect(row?.count).toBe(51);
});

test("the communication log has the messages of both sides, newest first, with the stamp of the process", async () => {
  const stage = await setStage();
  stage.say('Sure!\n```json\n[{"action": "tx", "communitySlug": "home", "threadId": "t",}]\n```', [tx("a"), tx("b")]);
  await stage.cycle();
  await stage.cycle();
  const entries = await stage.communications();
  expect(entries.map(({ direction, actionTypes }) => [direction, actionTypes])).toEqual([
    ["runner_to_agent", ["tx"]],
    ["runner_to_agent", ["tx"]],
    ["agent_to_runner", ["tx"]],
    ["runner_to_agent", ["tx"]],
    // The answer had to be repaired.
    ["agent_to_runner", []],
  ]);
  const [newest] = entries;
  expect(newest).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    direction: "runner_to_agent",
    actionTypes: ["tx"],
    instanceId: entries.at(-1)?.instanceId,
    port: String(stage.service.app.port),
    pid: process.pid,
    agentId: stage.agent.id,
    content: JSON.stringify(feedbackOn("b"), null, 2),
  });
  const paged: unknown[] = [];
  for (let token = ""; ; ) {
    const path = `/v1/decision-agents/${stage.agent.id}/communications?page_size=2&page_token=${encodeURIComponent(token)}`;
    const { body } = await stage.admin("GET", path);
    paged.push(...body.communications);
    token = body.next_page_token ?? "";
    if (token === "") {
      break;
    }
  }
  expect(paged).toEqual(entries);
  expect(await stage.communications(stage.other.id)).toEqual([]);
});
