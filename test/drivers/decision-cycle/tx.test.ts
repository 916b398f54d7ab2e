// Transactions of agents on a real chain: sent once, also after crashes, and reported in the next cycle.

import { afterAll, beforeAll, expect, test } from "vitest";
import { txFailpoints } from "../../../src/protocols/community/failpoints.ts";
import { type LocalNode, startLocalNode } from "../../chain/local-node.ts";
import { openCluster } from "../../fault/cluster.ts";
import { isAlive } from "../../fault/crash-matrix/crew.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { addLedger, openLedger } from "./ledger-stage.ts";
import { readCycle, setStage, settingsOf } from "./stage.ts";

let node: LocalNode;
beforeAll(async () => {
  node = await startLocalNode();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
});

const tx = { action: "tx", communitySlug: "home", threadId: "t" };

test("a transaction is sent and mined, and its agent gets the result in its next cycle", async () => {
  const { ledger, settings } = await openLedger(node);
  const stage = await setStage(settings);
  await addLedger(stage.forum, ledger);
  stage.say(
    [
      { ...tx, functionName: "add", args: ["7"] },
      { ...tx, contractAddress: ledger.toLowerCase(), functionName: "limit", args: [] },
      { ...tx, functionName: "mint", args: [] },
      { ...tx, contractAddress: `0x${"9".repeat(40)}`, functionName: "add", args: ["1"] },
      { ...tx, functionName: "pay", args: [], value: "99999999" },
    ],
    [],
  );
  const { result } = await stage.cycle();
  const sent = {
    type: "tx",
    contractAddress: ledger,
    functionName: "add",
    args: ["7"],
    hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    status: 1,
    gasUsed: expect.any(String),
    blockNumber: expect.any(Number),
  };
  expect(result.actions.map((each: { result?: object; error?: string }) => each.result ?? each.error)).toEqual([
    sent,
    expect.objectContaining({ type: "call", functionName: "limit", result: "1000" }),
    "Function not allowed.",
    "Contract address not allowed.",
    expect.stringMatching(/^value: /),
  ]);
  expect(await node.readTotal(ledger as `0x${string}`)).toBe(7n);
  await stage.cycle();
  const inbox = stage.shown(1).context.runnerInbox;
  expect(inbox).toHaveLength(5);
  expect(inbox[0]).toEqual({
    type: "tx_feedback",
    communitySlug: "home",
    threadId: "t",
    contractAddress: null,
    functionName: "add",
    args: ["7"],
    value: null,
    result: sent,
  });
  expect(inbox[2].result).toEqual({ error: "Function not allowed." });
});

test("a transaction whose process dies before or after it was sent is mined once", { timeout: 120_000 }, async () => {
  const { ledger, sender, settings } = await openLedger(node);
  const stage = await setStage({}, { remote: true });
  await addLedger(stage.forum, ledger);
  const cluster = await openCluster({
    RUNNEL_RUNS_LEASE_MS: "3000",
    RUNNEL_DATABASE_URL: stage.service.databaseUrl,
    RUNNEL_AUTH_ADMIN_TOKEN: "the-admin-token-of-the-forum",
    RUNNEL_DECISIONS_AGENTS: `${stage.agent.id}=${stage.agent.token}`,
    RUNNEL_DECISIONS_FORUM_URL: stage.forum.service.url,
    RUNNEL_DECISIONS_INTERVAL_SECONDS: "1",
    RUNNEL_DEFAULTS_MODEL: "openai:fake",
    RUNNEL_PROVIDERS_OPENAI_KEY: "a-key-of-openai",
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: stage.provider.baseUrl,
    RUNNEL_DECISIONS_TX_ENABLED: "true",
    RUNNEL_DECISIONS_TX_RPC_URL: String(settings.txRpcUrl),
    RUNNEL_DECISIONS_TX_CHAIN_ID: String(settings.txChainId),
    RUNNEL_DECISIONS_TX_PRIVATE_KEY: String(settings.txPrivateKey),
    RUNNEL_DECISIONS_TX_ALLOW: String(settings.txAllow?.join(",")),
  });
  await stage.service.close();
  stage.say([
    { ...tx, functionName: "add", args: ["5"] },
    { ...tx, functionName: "add", args: ["6"] },
  ]);
  const deaths = ["tx.begun", "tx.sent:2"];
  expect(deaths.map((each) => each.replace(/:.*/, ""))).toEqual(txFailpoints);
  // The schedule starts the one cycle. The first process dies before it sends the first transaction, the second after it has
  // sent the second transaction.
  for (const dies of deaths) {
    const member = await cluster.start({ RUNNEL_FAILPOINT: dies });
    await until(`a process to die at ${dies}`, () => !isAlive(member), 60_000);
  }
  const last = await startService({
    ...settingsOf(stage.provider, [stage.agent]),
    ...settings,
    databaseUrl: stage.service.databaseUrl,
    decisionsForumUrl: stage.forum.service.url,
  });
  const runs = await stage.query("select id from run where driver = 'decision-cycle'");
  expect(runs).toHaveLength(1);
  const { result } = await readCycle(last.target, String(runs[0]?.id));
  expect(result).toMatchObject({
    ok: true,
    actionCount: 2,
    actions: [{ result: { status: 1 } }, { result: { status: 1 } }],
  });
  expect(await node.readTotal(ledger as `0x${string}`)).toBe(11n);
  expect(await node.countMined(sender)).toBe(2);
  expect(stage.provider.requests).toHaveLength(1);
});
