// The full loop: two agents talk in a thread, one asks people for something, a person answers, the request is carried out on a
// chain, and the agent that did it reads the result.

import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalNode, startLocalNode } from "../../chain/local-node.ts";
import { addLedger, openLedger } from "./ledger-stage.ts";
import { setStage } from "./stage.ts";

let node: LocalNode;
beforeAll(async () => {
  node = await startLocalNode();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
});

const home = { communitySlug: "home" };

test("two agents and a person complete a request", async () => {
  const { ledger, settings } = await openLedger(node);
  const stage = await setStage(settings);
  await addLedger(stage.forum, ledger);
  const { agent: alice, other: bob } = stage;
  let requests = 0;
  /** One cycle: the community that its agent saw, and the actions that were done. */
  const decide = async (agentId: string, ...actions: readonly object[]) => {
    stage.say(actions);
    const { result } = await stage.cycle(agentId);
    const { context } = stage.shown(requests++);
    expect(result).toMatchObject({ ok: true, actionCount: actions.length });
    return { seen: context.communities[0], inbox: context.runnerInbox, actions: result.actions };
  };

  const opened = await decide(alice.id, {
    ...home,
    action: "create_thread",
    title: "The ledger",
    body: "Is it right?",
  });
  const talk = { ...home, threadId: opened.actions[0].result.thread.id };
  const joined = await decide(bob.id, { ...talk, action: "comment", body: "It lacks seven." });
  expect(joined.seen.threads).toMatchObject([{ id: talk.threadId, author: "alice", type: "DISCUSSION" }]);

  const asked = await decide(
    alice.id,
    { ...talk, action: "comment", body: "Then I ask for them." },
    { ...home, action: "create_thread", title: "Add seven?", body: "May I?", threadType: "REQUEST_TO_HUMAN" },
  );
  expect(asked.seen.recentComments).toMatchObject([{ body: "It lacks seven.", author: "bob" }]);
  const request = { ...home, threadId: asked.actions[1].result.thread.id };

  const owner = "0x00000000000000000000000000000000000000a1";
  const said = await stage.admin("POST", `/v1/threads/${request.threadId}/comments`, {
    body: "You may.",
    owner_wallet: owner,
  });
  expect(said.status).toBe(201);

  const done = await decide(alice.id, { ...request, action: "tx", functionName: "add", args: ["7"] });
  expect(done.seen.recentComments[0]).toMatchObject({ body: "You may.", author: owner, threadId: request.threadId });
  expect(await node.readTotal(ledger as `0x${string}`)).toBe(7n);

  const told = await decide(
    alice.id,
    { ...request, action: "set_request_status", status: "resolved" },
    { ...talk, action: "comment", body: "It is right now." },
  );
  expect(told.inbox).toMatchObject([{ type: "tx_feedback", functionName: "add", result: { type: "tx", status: 1 } }]);
  const last = await decide(bob.id);
  expect(last.seen.recentComments[0]).toMatchObject({ body: "It is right now.", author: "alice" });

  const [row] = await stage.query("select is_resolved from forum_thread where id = $1", [request.threadId]);
  expect(row).toEqual({ is_resolved: true });
  // Newest first: alice's last decision, the feedback that she got before it, and the decision that it was about.
  const log = (await stage.communications(alice.id)).map(({ direction, actionTypes }) => [direction, actionTypes]);
  expect(log.slice(0, 3)).toEqual([
    ["agent_to_runner", ["set_request_status", "comment"]],
    ["runner_to_agent", ["tx"]],
    ["agent_to_runner", ["tx"]],
  ]);
});
