// Neither the sender's key nor the node's URL, which has a key in it too, is in any result or error.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { createChain } from "../../src/protocols/community/evm/chain.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { callOf, chainOf } from "./calls.ts";
import { answer, type Fate, openNodeGate } from "./node-gate.ts";

const ledger = "0x00000000000000000000000000000000000000aa";
const keyOfNode = "canaryKeyOfTheNode";
const keyOfSender = "ca7a".repeat(16);
const canaries = [keyOfNode, keyOfSender, keyOfSender.toUpperCase(), "127.0.0.1"];

/** Text that a node may send, with its own URL and with secrets that a careless node repeats. */
const gossip = `no, https://node.example/v2/${keyOfNode}?again=${keyOfNode} for ${keyOfSender} of ${keyOfSender.toUpperCase()}`;

const word = (value: number | string): string => `0x${BigInt(value).toString(16).padStart(64, "0")}`;
/** Error(string) with that text. */
const revertData = `0x08c379a0${word(32).slice(2)}${word(gossip.length).slice(2)}${Buffer.from(gossip).toString("hex").padEnd(512, "0")}`;

const good: Readonly<Record<string, unknown>> = {
  eth_chainId: "0x7a69",
  eth_call: "0x",
  eth_estimateGas: "0x5208",
  eth_getTransactionCount: "0x0",
  eth_getBlockByNumber: { number: "0x1", baseFeePerGas: "0x1", transactions: [] },
  eth_maxPriorityFeePerGas: "0x1",
  eth_getTransactionByHash: null,
  eth_getTransactionReceipt: null,
};

const bad: readonly (readonly [string, Fate])[] = [
  ["a connection that breaks", "lose"],
  ["an error that quotes the address", answer({ error: { code: -32_000, message: gossip } })],
  ["an error of its own", answer({ error: { code: -32_603, message: gossip, data: { url: gossip } } })],
  ["an error of a code that nobody knows", answer({ error: { code: 77, message: gossip } })],
  ["a revert whose reason quotes the address", answer({ error: { code: 3, message: gossip, data: revertData } })],
  ["HTTP 401", { status: 401, text: gossip }],
  ["HTTP 500 with an error in it", { status: 500, outcome: { error: { code: 1, message: gossip } } }],
  ["a page", { status: 200, text: `<html>${gossip}</html>` }],
  ["nothing", { status: 200, text: "" }],
  ["JSON that is not an answer", { status: 200, text: "[]" }],
  ["a text for a number", answer({ result: gossip })],
  ["null", answer({ result: null })],
  ["an object", answer({ result: { url: gossip } })],
];

test.each(bad)("a node that answers with %s gives an error without a secret", async (_, fate) => {
  await using gate = await openGossip();
  const clock = createManualClock({ jump: true });
  for (const place of [...Object.keys(good), "eth_sendRawTransaction"]) {
    const chain = chainOf({ rpcUrl: gate.url, privateKey: keyOfSender, ledger, clock, pollMs: 10_000 });
    gate.decide((method) => (method === place ? fate : answerWell(method, place)));
    const outcome = await chain.execute(callOf(ledger, "pay")).catch((error: unknown) => error);
    expect(outcome, place).not.toBeInstanceOf(Error);
    expectNoSecret(outcome);
    expect(gate.asked).toContain(place);
    const prepared = await chain.prepare(callOf(ledger, "pay"));
    if (prepared.type === "prepared") {
      expectNoSecret(await chain.broadcast(prepared));
      expectNoSecret(prepared);
    }
  }
});

test("a node that is down gives an error without its address", async () => {
  const gate = await openGossip();
  await gate[Symbol.asyncDispose]();
  const chain = chainOf({ rpcUrl: gate.url, privateKey: keyOfSender, ledger });
  expect(await chain.execute(callOf(ledger, "pay"))).toEqual({ error: "The node cannot be reached." });
});

test.each(["", "0x", "0x12", keyOfSender.slice(1), `${"0".repeat(64)}`, "f".repeat(64), `${keyOfSender}x`])(
  "an invalid key is refused without being shown: %j",
  (privateKey) => {
    const options = {
      rpcUrl: "http://127.0.0.1:1",
      chainId: 1,
      allowed: [],
      valueMaxWei: 0n,
      gasMax: 0n,
      dryRun: false,
    };
    const open = () => createChain({ ...options, privateKey, confirmTimeoutMs: 1, clock: systemClock });
    expect(open).toThrow(Fault);
    expect(open).toThrow(/^decisions\.tx\.private_key is not a valid private key: give 64 hex digits$/);
  },
);

/** Reaches eth_getTransactionByHash by refusing the transaction. */
function answerWell(method: string, place: string): Fate {
  const isRefused = method === "eth_sendRawTransaction" && place === "eth_getTransactionByHash";
  return isRefused
    ? answer({ error: { code: -32_000, message: "nonce too low" } })
    : answer({ result: good[method] ?? null });
}

async function openGossip() {
  return await openNodeGate("http://127.0.0.1:1", `/v2/${keyOfNode}?key=${keyOfNode}`);
}

function expectNoSecret(value: unknown): void {
  const text = `${JSON.stringify(value)} ${inspect(value, { depth: 10 })}`;
  expect(canaries.filter((canary) => text.includes(canary))).toEqual([]);
}
