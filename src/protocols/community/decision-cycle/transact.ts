// Executes a `tx` action: a call of a contract, or a transaction that is signed, stored, and only then sent.
//
// T1  From signing to sending, this action alone holds the wallet, over all replicas. Two transactions signed at once would
//     have the same nonce, and the chain takes only one of them.
// T2  A replica that finds a begun transaction sends the same bytes again. The chain executes them once, however often they are
//     sent.

import type { DriverStep } from "../../../engine/runs/driver.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { unlessAborted } from "../../../platform/base/on-abort.ts";
import type { Transaction } from "../decisions/action.ts";
import type { Json } from "../decisions/json.ts";
import { broadcastsMax, type ChainContract, type ChainResult, type PreparedTx } from "../evm/call.ts";
import type { Broadcast, Chain } from "../evm/chain.ts";

/** Dependencies of `transact`. */
export interface TransactOptions {
  readonly chain: Chain;
  /** Takes the lock of the wallet. Returns undefined while another holder has it. */
  readonly tryWalletLock: () => Promise<AsyncDisposable | undefined>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const lockPauseMs = 200;
const broadcastPauseMs = 1_000;

/**
 * Executes the transaction. Returns undefined when the run must stop before the outcome is known. `begin` makes the prepared
 * transaction durable.
 */
export async function* transact(
  options: TransactOptions,
  { tx, contracts, attempt }: { tx: Transaction; contracts: Json; attempt: string | undefined },
  begin: (attempt: string) => DriverStep,
): AsyncGenerator<DriverStep, { readonly result: ChainResult; readonly isBegun: boolean } | undefined> {
  const { chain, signal } = options;
  let prepared: PreparedTx;
  let broadcast: Broadcast | undefined;
  if (attempt === undefined) {
    await using lock = await takeLock(options);
    const made = lock && (await unlessAborted(signal, () => chain.prepare(callOf(tx, contracts), signal)));
    if (made === undefined) {
      return undefined;
    }
    if (made.type !== "prepared") {
      return { result: made, isBegun: false };
    }
    prepared = made;
    try {
      yield begin(JSON.stringify(prepared));
      failpoint("tx.begun");
      broadcast = await send(options, prepared);
    } finally {
      // Releases a transaction that was not sent because of an error or a stop.
      chain.abandon(prepared);
    }
  } else {
    prepared = JSON.parse(attempt);
    broadcast = await send(options, prepared);
  }
  failpoint("tx.sent");
  if (broadcast?.state === "refused") {
    return { result: { error: broadcast.error }, isBegun: true };
  }
  const result = broadcast && (await unlessAborted(signal, () => chain.confirm(prepared, signal)));
  return result && { result, isBegun: true };
}

async function takeLock({ tryWalletLock, clock, signal }: TransactOptions): Promise<AsyncDisposable | undefined> {
  while (!signal.aborted) {
    const lock = await tryWalletLock();
    if (lock !== undefined) {
      return lock;
    }
    await clock.sleep(lockPauseMs, signal);
  }
  return undefined;
}

async function send({ chain, clock, signal }: TransactOptions, prepared: PreparedTx): Promise<Broadcast | undefined> {
  let broadcast = await chain.broadcast(prepared);
  for (let count = 1; broadcast.state === "unknown" && count < broadcastsMax; count++) {
    await clock.sleep(broadcastPauseMs, signal);
    if (signal.aborted) {
      return undefined;
    }
    broadcast = await chain.broadcast(prepared);
  }
  return broadcast;
}

/** Makes the call. The contracts come from the community's context and are not checked here; the chain checks them. */
function callOf({ contractAddress, functionName, args, value }: Transaction, contracts: Json) {
  return {
    contracts: (Array.isArray(contracts) ? contracts : []).map(contractOf),
    contractAddress,
    functionName,
    args,
    value,
  };
}

function contractOf(value: Json): ChainContract {
  const { id, name, chain, address, abi, abiFunctions } = value as Readonly<Record<string, unknown>>;
  return {
    id: textOf(id) ?? "",
    name: textOf(name) ?? "",
    chain: textOf(chain),
    address: textOf(address),
    abi: typeof abi === "string" || abi === undefined || abi === null ? textOf(abi) : JSON.stringify(abi),
    abiFunctions: (Array.isArray(abiFunctions) ? abiFunctions : []).flatMap((each) =>
      typeof each?.name === "string" ? [{ name: each.name }] : [],
    ),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
