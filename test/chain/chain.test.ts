// Calls and transactions on a real chain, on this machine.

import { encodeErrorResult, getAddress, parseAbi, parseTransaction } from "viem";
import { afterAll, test as base, beforeAll, expect } from "vitest";
import { loadConfig } from "../../src/app/settings.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { ChainCall } from "../../src/protocols/community/evm/call.ts";
import { openChainOf } from "../../src/protocols/community/open-evm.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { type ChainOf, callOf, chainOf, ledgerAt, prepareTx } from "./calls.ts";
import { ledgerAbi } from "./ledger.ts";
import { addressOf, type LocalNode, localChainId, startLocalNode } from "./local-node.ts";
import { answer, openNodeGate } from "./node-gate.ts";

const test = base.extend("stage", () => open());

let node: LocalNode;
beforeAll(async () => {
  node = await startLocalNode();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
});

test("a view call returns integers as decimal text and tuples as lists", async ({ stage: { ledger, chain } }) => {
  const called = { type: "call", contractAddress: ledger, args: [] };
  expect(await chain.execute(callOf(ledger, "limit"))).toEqual({ ...called, functionName: "limit", result: "1000" });
  expect(await chain.execute(callOf(ledger, "huge"))).toMatchObject({ result: String(2n ** 256n - 1n) });
  expect(await chain.execute(callOf(ledger, "summary"))).toMatchObject({
    result: ["0", [getAddress(ledger), "0"], "0x010203", ["-5", "5"]],
  });
});

test("a transaction is sent and mined, and its result has hash, gas and block", async () => {
  const { ledger, chain } = await open();
  const args = [[{ by: ledger, amount: "7" }, [ledger, 5]]];
  const result = await chain.execute(callOf(ledger, "addMany", args));
  expect(result).toEqual({
    type: "tx",
    contractAddress: ledger,
    functionName: "addMany",
    args,
    hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    status: 1,
    gasUsed: expect.stringMatching(/^\d+$/),
    blockNumber: expect.any(Number),
  });
  expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  expect(await node.readTotal(ledger)).toBe(12n);
});

test("a contract is called by its address in any case, and an argument may be an address in capitals", async () => {
  const { ledger, chain, sender } = await open();
  const checksummed = getAddress(ledger).slice(2);
  for (const contractAddress of [checksummed.toUpperCase(), invertCase(checksummed)].map((each) => `0x${each}`)) {
    expect(await chain.execute(callOf(contractAddress, "limit"))).toMatchObject({ contractAddress, result: "1000" });
    expect(await chain.execute(callOf(contractAddress, "pay", [], "5"))).toMatchObject({ contractAddress, status: 1 });
  }
  expect(await chain.execute(callOf(ledger, "paid", [`0x${sender.slice(2).toUpperCase()}`]))).toMatchObject({
    result: "10",
  });
});

test("value is sent up to the cap, and only to payable functions", async () => {
  const { ledger, chain, sender } = await open({ valueMaxWei: 5n });
  expect(await chain.execute(callOf(ledger, "pay", [], "5"))).toMatchObject({ type: "tx", status: 1 });
  expect(await chain.execute(callOf(ledger, "paid", [sender]))).toMatchObject({ result: "5" });
  expect(await chain.execute(callOf(ledger, "pay", [], "6"))).toEqual({
    error: "value: 6 wei is above the maximum of 5 (decisions.tx.value_max_wei).",
  });
  expect(await node.countMined(sender)).toBe(1);
});

test("a transaction that would revert is not sent, and the error gives the reason", async () => {
  const { ledger, chain, sender } = await open();
  const reasons = [
    ["addOnce", [5, 1], "Reverted in simulation: total has changed."],
    ["add", ["2000"], 'Reverted in simulation: TooMuch("2000", "1000").'],
    ["fail", [], 'Reverted in simulation: Panic("1").'],
  ] as const;
  for (const [functionName, args, error] of reasons) {
    expect(await chain.execute(callOf(ledger, functionName, args))).toEqual({ error });
  }
  const withoutErrors = ledgerAt(ledger, { abi: JSON.stringify(ledgerAbi.filter(({ type }) => type !== "error")) });
  expect(await chain.execute({ contracts: [withoutErrors], functionName: "add", args: ["2000"] })).toEqual({
    error: expect.stringMatching(/^Reverted in simulation: an error that is not in the ABI, 0x[0-9a-f]+\.$/),
  });
  expect(await node.countMined(sender)).toBe(0);
});

test("a transaction that reverts after a successful simulation has status 0", async ({ stage: { ledger, chain } }) => {
  const prepared = await prepareTx(chain, callOf(ledger, "addOnce", [0, 1]));
  await node.write(ledger, "addOnce", [0n, 9n]);
  expect(await chain.broadcast(prepared)).toEqual({ state: "sent" });
  expect(await chain.confirm(prepared)).toMatchObject({ type: "tx", hash: prepared.hash, status: 0 });
  expect(await node.readTotal(ledger)).toBe(9n);
});

test("a transaction above the gas cap is not sent", async () => {
  const { ledger, chain, sender } = await open({ gasMax: 60_000n });
  expect(await chain.execute(callOf(ledger, "burn", [500]))).toEqual({
    error: expect.stringMatching(/^gas: the call needs \d+, maximum 60000 \(decisions\.tx\.gas_max\)\.$/),
  });
  expect(await chain.execute(callOf(ledger, "burn", [1]))).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(1);
});

test("a dry run simulates and sends nothing", async () => {
  const { ledger, chain, sender } = await open({ dryRun: true });
  expect(await chain.execute(callOf(ledger, "pay", [], "5"))).toEqual({
    type: "dry_run",
    contractAddress: ledger,
    functionName: "pay",
    args: [],
    value: "5",
    gas: expect.stringMatching(/^\d+$/),
    result: [],
  });
  expect(await chain.execute(callOf(ledger, "add", [2000]))).toMatchObject({ error: expect.stringMatching(/TooMuch/) });
  expect(await chain.execute(callOf(ledger, "limit"))).toMatchObject({ type: "call", result: "1000" });
  expect(await node.countMined(sender)).toBe(0);
});

test("nothing is called on another chain than the configured one, until the node serves that", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain, sender } = await open({ rpcUrl: gate.url });
  gate.decide((method) => (method === "eth_chainId" ? answer({ result: "0x1" }) : "pass"));
  for (const functionName of ["limit", "pay"]) {
    expect(await chain.execute(callOf(ledger, functionName))).toEqual({
      error: "The node serves chain 1, not chain 31337 (decisions.tx.chain_id).",
    });
  }
  expect(new Set(gate.asked)).toEqual(new Set(["eth_chainId"]));
  gate.decide(() => "pass");
  expect(await chain.execute(callOf(ledger, "pay"))).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(1);
});

test("concurrent transactions of one sender take a nonce each", async ({ stage: { ledger, chain, sender } }) => {
  const calls = Array.from({ length: 6 }, () => chain.execute(callOf(ledger, "pay", [], "1")));
  const results = await Promise.all(calls);
  expect(results).toEqual(calls.map(() => expect.objectContaining({ type: "tx", status: 1 })));
  expect(await node.countMined(sender)).toBe(6);
  expect(await chain.execute(callOf(ledger, "paid", [sender]))).toMatchObject({ result: "6" });
});

test("a transaction that is broadcast again is executed once, even after it was mined", async () => {
  const { ledger, chain, sender } = await open();
  const prepared = await prepareTx(chain, callOf(ledger, "pay", [], "3"));
  const broadcasts = await Promise.all([1, 2, 3].map(() => chain.broadcast(prepared)));
  const mined = await chain.confirm(prepared);
  broadcasts.push(await chain.broadcast(prepared));
  expect(new Set(broadcasts.map(({ state }) => state))).toEqual(new Set(["sent"]));
  expect(mined).toMatchObject({ type: "tx", status: 1 });
  expect(await chain.confirm(prepared)).toEqual(mined);
  expect(await node.countMined(sender)).toBe(1);
  expect(await chain.execute(callOf(ledger, "paid", [sender]))).toMatchObject({ result: "3" });
});

test.each([
  ["before it was broadcast", 0],
  ["after it was broadcast", 1],
])("after a process dies %s, another process completes the transaction once", async (_, broadcasts) => {
  const { ledger, chain, sender, again } = await open();
  const stored = JSON.stringify(await prepareTx(chain, callOf(ledger, "pay", [], "3")));
  for (let count = 0; count < broadcasts; count++) {
    await chain.broadcast(JSON.parse(stored));
  }
  const next = again();
  expect(await next.broadcast(JSON.parse(stored))).toEqual({ state: "sent" });
  expect(await next.confirm(JSON.parse(stored))).toMatchObject({ type: "tx", status: 1 });
  expect(await next.execute(callOf(ledger, "pay", [], "4"))).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(2);
  expect(await next.execute(callOf(ledger, "paid", [sender]))).toMatchObject({ result: "7" });
});

test("a prepared transaction whose nonce was used by another is refused", async () => {
  const { ledger, chain, sender, again } = await open();
  const prepared = await prepareTx(chain, callOf(ledger, "pay", [], "3"));
  expect(await again().execute(callOf(ledger, "pay", [], "4"))).toMatchObject({ type: "tx", status: 1 });
  expect(await chain.broadcast(prepared)).toEqual({ state: "refused", error: expect.stringMatching(/nonce/i) });
  expect(await node.countMined(sender)).toBe(1);
});

test("an abandoned transaction leaves its nonce to the next one", async ({ stage: { ledger, chain } }) => {
  const abandoned = await prepareTx(chain, callOf(ledger, "pay", [], "3"));
  chain.abandon(abandoned);
  const next = await prepareTx(chain, callOf(ledger, "pay", [], "4"));
  expect(next.nonce).toBe(abandoned.nonce);
  expect(await chain.broadcast(next)).toEqual({ state: "sent" });
  expect(await chain.broadcast(abandoned)).toEqual({
    state: "refused",
    error: "Nonce 0 was used by another transaction.",
  });
});

test("a caller can stop waiting for the sender's turn without delaying the next one", async () => {
  const { ledger, chain, sender } = await open();
  const prepared = await prepareTx(chain, callOf(ledger, "pay"));
  const stop = new AbortController();
  const stopped = chain.execute(callOf(ledger, "pay"), stop.signal);
  const patient = chain.execute(callOf(ledger, "pay"));
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
  await chain.broadcast(prepared);
  expect(await patient).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(2);
});

test("a lost answer does not duplicate the transaction", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain, sender } = await open({ rpcUrl: gate.url });
  gate.decide((method) => (method === "eth_sendRawTransaction" ? "lose answer" : "pass"));
  expect(await chain.execute(callOf(ledger, "pay", [], "3"))).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(1);
});

test("a node that is down before the signature gives an error, and nothing is sent", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain, sender } = await open({ rpcUrl: gate.url });
  const places = ["eth_chainId", "eth_call", "eth_estimateGas", "eth_getTransactionCount", "eth_getBlockByNumber"];
  for (const place of places) {
    gate.decide((method) => (method === place ? "lose" : "pass"));
    expect(await chain.execute(callOf(ledger, "pay")), place).toEqual({ error: "The node cannot be reached." });
    expect(gate.asked.at(-1)).toBe(place);
  }
  gate.decide(() => "pass");
  expect(await chain.execute(callOf(ledger, "pay"))).toMatchObject({ type: "tx", status: 1 });
  expect(await node.countMined(sender)).toBe(1);
});

test("a node that does not answer gives an error after the timeout", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain } = await open({ rpcUrl: gate.url, answerTimeoutMs: 50 });
  gate.decide(() => "leave");
  expect(await chain.execute(callOf(ledger, "pay"))).toEqual({ error: "The node did not answer in time." });
});

test("a chain without a base fee gets legacy transactions", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain } = await open({ rpcUrl: gate.url });
  const block = answer({ result: { number: "0x1", transactions: [] } });
  gate.decide((method) => (method === "eth_getBlockByNumber" ? block : "pass"));
  const prepared = await prepareTx(chain, callOf(ledger, "pay"));
  expect(parseTransaction(prepared.raw as `0x${string}`)).toMatchObject({ type: "legacy", chainId: localChainId });
  expect(await chain.broadcast(prepared)).toEqual({ state: "sent" });
  expect(await chain.confirm(prepared)).toMatchObject({ type: "tx", status: 1 });
});

test("a broadcast to a node that is down leaves the transaction open, and the next one does not take its nonce", async () => {
  await using gate = await openNodeGate(node.url);
  const clock = createManualClock({ jump: true });
  const { ledger, chain, sender } = await open({ rpcUrl: gate.url, clock, pollMs: 10_000 });
  gate.decide((method) => (/Raw|ByHash|Receipt/.test(method) ? "lose" : "pass"));
  expect(await chain.execute(callOf(ledger, "pay", [], "3"))).toEqual({
    error: expect.stringMatching(
      /^Transaction 0x\w+ was not confirmed within 30 s; it may be confirmed later\. The node cannot/,
    ),
    hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
  expect(await chain.execute(callOf(ledger, "pay", [], "4"))).toEqual({
    error: "The previous transaction may not have been sent yet; no other is sent before it.",
  });
  gate.decide(() => "pass");
  const prepared = await prepareTx(chain, callOf(ledger, "pay", [], "4"));
  expect(prepared.nonce).toBe(1);
  await chain.broadcast(prepared);
  await until("the payment to be mined", async () => {
    const paid = await chain.execute(callOf(ledger, "paid", [sender]));
    return "result" in paid && paid.result === "7";
  });
});

test("a transaction that is not mined in time gives an error with its hash, and can be confirmed later", async () => {
  const { ledger, chain, again } = await open({ clock: createManualClock({ jump: true }), pollMs: 10_000 });
  await using _ = await withoutMining();
  const prepared = await prepareTx(chain, callOf(ledger, "pay", [], "3"));
  await chain.broadcast(prepared);
  expect(await chain.confirm(prepared)).toEqual({
    error: `Transaction ${prepared.hash} was not confirmed within 30 s; it may be confirmed later.`,
    hash: prepared.hash,
  });
  const stop = new AbortController();
  const waiting = again({ clock: createManualClock() }).confirm(prepared, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await node.setMining(true);
  expect(await again().confirm(prepared)).toMatchObject({ type: "tx", status: 1 });
});

test("a transaction that the node has dropped is sent again before the next one", async () => {
  const { ledger, chain, sender, again } = await open();
  await using _ = await withoutMining();
  const first = await prepareTx(chain, callOf(ledger, "pay", [], "3"));
  await chain.broadcast(first);
  await node.forget(first.hash as `0x${string}`);
  const second = await prepareTx(chain, callOf(ledger, "pay", [], "4"));
  expect(second.nonce).toBe(first.nonce + 1);
  await chain.broadcast(second);
  await node.setMining(true);
  const results = [await again().confirm(first), await again().confirm(second)];
  expect(results).toEqual(results.map(() => expect.objectContaining({ status: 1 })));
  expect(await chain.execute(callOf(ledger, "paid", [sender]))).toMatchObject({ result: "7" });
});

test("a sender without funds gets the node's error", async () => {
  const { ledger, chain } = await open({ privateKey: `0x${"5e".repeat(32)}` });
  expect(await chain.execute(callOf(ledger, "pay", [], "3"))).toEqual({ error: expect.stringMatching(/funds/i) });
});

test("a contract that redirects callers to a URL is not followed", async () => {
  await using gate = await openNodeGate(node.url);
  const { ledger, chain } = await open({ rpcUrl: gate.url });
  const abi = parseAbi([
    "error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callback, bytes extra)",
  ]);
  const args = [ledger, [`${gate.url}{sender}/{data}`], "0x", "0x00000000", "0x"] as const;
  const data = encodeErrorResult({ abi, errorName: "OffchainLookup", args });
  gate.decide((method) => (method === "eth_call" ? answer({ error: { code: 3, message: "reverted", data } }) : "pass"));
  expect(await chain.execute(callOf(ledger, "limit"))).toEqual({
    error: expect.stringMatching(/^Reverted in simulation: an error that is not in the ABI, 0x556f1830/),
  });
  expect(gate.asked).toEqual(["eth_chainId", "eth_call"]);
});

test("the settings enable the chain, within their limits", async () => {
  const ledger = await node.deployLedger();
  const environment = {
    RUNNEL_DECISIONS_TX_ENABLED: "true",
    RUNNEL_DECISIONS_TX_RPC_URL: node.url,
    RUNNEL_DECISIONS_TX_CHAIN_ID: String(localChainId),
    RUNNEL_DECISIONS_TX_PRIVATE_KEY: node.takeKey(),
    RUNNEL_DECISIONS_TX_ALLOW: `${ledger}:pay, ${ledger}:limit`,
    RUNNEL_DECISIONS_TX_VALUE_MAX_WEI: "9",
  };
  const run = async (changes: Record<string, string>, call: ChainCall) =>
    await (await openChainOf(loadConfig({ ...environment, ...changes }), systemClock)).execute(call);
  const pay = callOf(ledger, "pay", [], "9");
  expect(await run({}, callOf(ledger, "limit"))).toMatchObject({ type: "call", result: "1000" });
  expect(await run({}, callOf(ledger, "pay", [], "10"))).toMatchObject({
    error: expect.stringMatching(/maximum of 9/),
  });
  expect(await run({}, callOf(ledger, "add", [1]))).toMatchObject({ error: expect.stringMatching(/allow-list/) });
  expect(await run({ RUNNEL_DECISIONS_TX_DRY_RUN: "true" }, pay)).toMatchObject({ type: "dry_run" });
  expect(await run({ RUNNEL_DECISIONS_TX_GAS_MAX: "21000" }, pay)).toMatchObject({
    error: expect.stringMatching(/^gas:/),
  });
  const missing = { error: "Execution wallet or Alchemy key missing." };
  expect(await run({ RUNNEL_DECISIONS_TX_ENABLED: "false" }, pay)).toEqual(missing);
  expect(await run({ RUNNEL_DECISIONS_TX_PRIVATE_KEY: "" }, pay)).toEqual(missing);
});

/** A contract and a sender for this test, and a chain; `again` opens the chain of another process. */
async function open(changes: Partial<ChainOf> = {}) {
  const ledger = await node.deployLedger();
  const options = { rpcUrl: node.url, privateKey: node.takeKey(), ledger, ...changes };
  return {
    ledger,
    sender: addressOf(options.privateKey),
    chain: chainOf(options),
    again: (more: Partial<ChainOf> = {}) => chainOf({ ...options, clock: systemClock, pollMs: 20, ...more }),
  };
}

async function withoutMining(): Promise<AsyncDisposable> {
  await node.setMining(false);
  return { [Symbol.asyncDispose]: () => node.setMining(true) };
}

function invertCase(text: string): string {
  return text.replaceAll(/[a-f]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
}
