// Calls of the tests' contract, and chains that allow all of it.

import { onTestFinished } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { ChainCall, ChainContract, PreparedTx } from "../../src/protocols/community/evm/call.ts";
import { type Chain, type ChainOptions, createChain } from "../../src/protocols/community/evm/chain.ts";
import { ledgerAbi } from "./ledger.ts";
import { localChainId } from "./local-node.ts";

export const ledgerFunctions: readonly string[] = [
  ...new Set(ledgerAbi.flatMap((item) => (item.type === "function" ? [item.name] : []))),
];

export function ledgerAt(address: string, changes: Partial<ChainContract> = {}): ChainContract {
  return {
    id: "contract-1",
    name: "Ledger",
    chain: "Local",
    address,
    abi: JSON.stringify(ledgerAbi),
    abiFunctions: ledgerFunctions.map((name) => ({ name })),
    ...changes,
  };
}

export function callOf(
  address: string,
  functionName: string,
  args: readonly unknown[] = [],
  value?: unknown,
): ChainCall {
  return { contracts: [ledgerAt(address)], functionName, args, value };
}

export interface ChainOf extends Partial<ChainOptions> {
  readonly rpcUrl: string;
  readonly privateKey: string;
  /** The contract; all of its functions are allowed. */
  readonly ledger: string;
}

export function chainOf({ ledger, ...options }: ChainOf): Chain {
  return createChain({
    chainId: localChainId,
    allowed: [{ address: ledger, functions: ledgerFunctions }],
    valueMaxWei: 1_000n,
    gasMax: 200_000n,
    dryRun: false,
    confirmTimeoutMs: 30_000,
    pollMs: 20,
    clock: systemClock,
    ...options,
  });
}

/** Prepares a transaction and abandons it when the test ends. */
export async function prepareTx(chain: Chain, call: ChainCall): Promise<PreparedTx> {
  const prepared = await chain.prepare(call);
  if (prepared.type !== "prepared") {
    throw new Error(`nothing was prepared: ${JSON.stringify(prepared)}`);
  }
  onTestFinished(() => chain.abandon(prepared));
  return prepared;
}
