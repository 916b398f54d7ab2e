// A contract on a local chain that the agents of a community may call.

import { expect } from "vitest";
import type { Config } from "../../../src/platform/config/keys.ts";
import { ledgerFunctions } from "../../chain/calls.ts";
import { ledgerAbi } from "../../chain/ledger.ts";
import { addressOf, type LocalNode, localChainId } from "../../chain/local-node.ts";
import type { Forum } from "../../forum/stage.ts";

export async function openLedger(node: LocalNode) {
  const ledger = await node.deployLedger();
  const key = node.takeKey();
  const settings: Partial<Config> = {
    txEnabled: true,
    txRpcUrl: node.url,
    txChainId: localChainId,
    txPrivateKey: key,
    txAllow: ledgerFunctions.map((name) => `${ledger}:${name}`),
  };
  return { ledger, sender: addressOf(key), settings };
}

export async function addLedger(forum: Forum, address: string): Promise<void> {
  const body = { name: "Ledger", chain: "Local", address, abi: ledgerAbi };
  const { status } = await forum.admin("POST", `/v1/communities/${forum.communityId}/contracts`, body);
  expect(status).toBe(201);
}
