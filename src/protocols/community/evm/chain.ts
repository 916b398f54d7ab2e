// Executes calls of contracts and transactions, signed by the one key that the operator configured.
//
// C1  A transaction is sent only when the community offers it, the operator allows it, the caps permit it, and its simulation
//     succeeded.
// C2  A transaction is executed at most once, however often it is broadcast: it is signed once, and its nonce is used once. So
//     a caller stores the result of `prepare` before it calls `broadcast`. After a crash it broadcasts the same bytes again,
//     before it prepares anything else.
// C3  Within a process nonces do not collide: from `prepare` to `broadcast` or `abandon` the sender has one transaction, and
//     others wait. Across processes the caller holds a lock for that time. Without a lock, two transactions may be signed for
//     one nonce; the chain then executes one of them, and the other is refused or never mined.
// C4  Calls go only to the chain of the settings. The signature names that chain too.
// C5  No answer contains the key or the address of the node.

import type { Hex, PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { keccak256 } from "viem/utils";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { isView } from "./abi.ts";
import { broadcastsMax, type ChainCall, type ChainResult, type ErrorResult, type PreparedTx } from "./call.ts";
import { type CallRules, type CheckedCall, checkCall } from "./check.ts";
import { ChainFailure } from "./failure.ts";
import { type ChainNode, type Message, NodeRefusal, openNode } from "./node.ts";
import { readOutputs } from "./outputs.ts";
import { Turns } from "./turn.ts";

/** The node, the key and the limits of a chain. */
export interface ChainOptions extends CallRules {
  readonly rpcUrl: string;
  /** 64 hex digits, with or without 0x. */
  readonly privateKey: string;
  /** The maximum gas of one transaction. */
  readonly gasMax: bigint;
  /** Does everything except sending. */
  readonly dryRun: boolean;
  /** The maximum wait for a transaction to be mined. */
  readonly confirmTimeoutMs: number;
  readonly pollMs?: number;
  /** The timeout of one answer of the node. */
  readonly answerTimeoutMs?: number;
  readonly clock: Clock;
}

/** Whether the node has the transaction. `unknown` means that it may have it; broadcasting it again does no harm. */
export type Broadcast = { readonly state: "sent" } | { readonly state: "refused" | "unknown"; readonly error: string };

/** Executes calls of contracts and transactions. */
export interface Chain {
  /** Does all steps, from the checks to one confirmation. A caller that must survive a crash calls the single steps instead. */
  execute(call: ChainCall, signal?: AbortSignal): Promise<ChainResult>;
  /** Returns a result when nothing has to be sent. Otherwise it holds the sender's turn until `broadcast` or `abandon`. */
  prepare(call: ChainCall, signal?: AbortSignal): Promise<ChainResult | PreparedTx>;
  /**
   * Sends a prepared transaction. It may be called any number of times, also for a transaction that another process prepared.
   */
  broadcast(prepared: PreparedTx): Promise<Broadcast>;
  /** Releases the turn of a prepared transaction that will not be broadcast. */
  abandon(prepared: PreparedTx): void;
  /**
   * Waits for one confirmation of a broadcast transaction.
   * @throws the signal's reason when it aborts.
   */
  confirm(prepared: PreparedTx, signal?: AbortSignal): Promise<ChainResult>;
}

/** The default timeout of the node. A node that is silent for longer will not answer. */
const answerTimeoutMsUsual = 10_000;
/** The default poll interval. Blocks take seconds. */
const pollMsUsual = 1_000;
/** The maximum time of a turn. Storing one row takes far less; a holder that takes longer loses its turn. */
const turnMsMax = 60_000;

/**
 * Opens the chain.
 * @throws Fault CONFIG_INVALID when the private key is invalid.
 */
export function createChain(options: ChainOptions): Chain {
  const sender = new Sender(options);
  return {
    execute: (call, signal) => execute(sender, call, signal),
    prepare: (call, signal) => sender.prepare(call, signal),
    broadcast: (prepared) => sender.broadcast(prepared),
    abandon: (prepared) => sender.abandon(prepared),
    confirm: (prepared, signal) => sender.confirm(prepared, signal),
  };
}

async function execute(sender: Sender, call: ChainCall, signal?: AbortSignal): Promise<ChainResult> {
  const prepared = await sender.prepare(call, signal);
  if (prepared.type !== "prepared") {
    return prepared;
  }
  let broadcast = await sender.broadcast(prepared);
  for (let count = 1; broadcast.state === "unknown" && count < broadcastsMax; count++) {
    await sender.pause(signal);
    broadcast = await sender.broadcast(prepared);
  }
  return broadcast.state === "refused" ? { error: broadcast.error } : await sender.confirm(prepared, signal);
}

class Sender {
  readonly #options: ChainOptions;
  readonly #node: ChainNode;
  readonly #account: PrivateKeyAccount;
  readonly #turns: Turns;
  /** Functions that release held turns, by transaction hash. */
  readonly #held = new Map<string, () => void>();
  /** The newest transaction that the node has or may have. */
  #last: PreparedTx | undefined;
  #isRightChain = false;

  constructor(options: ChainOptions) {
    const { rpcUrl, privateKey, answerTimeoutMs = answerTimeoutMsUsual, clock } = options;
    this.#options = options;
    this.#account = openAccount(privateKey);
    const bare = privateKey.replace(/^0x/i, "");
    const secrets = [bare, bare.toLowerCase(), bare.toUpperCase()];
    this.#node = openNode({ rpcUrl, secrets, answerTimeoutMs });
    this.#turns = new Turns(clock, turnMsMax);
  }

  async prepare(call: ChainCall, signal?: AbortSignal): Promise<ChainResult | PreparedTx> {
    try {
      const checked = checkCall(call, this.#options);
      await this.#checkChain();
      const { called, item, errors } = checked;
      const message = { from: this.#account.address, to: checked.to, data: checked.data, value: checked.value };
      const result = readOutputs(item, await this.#node.simulate(message, errors));
      if (isView(item)) {
        return { type: "call", ...called, result };
      }
      const gas = await this.#planGas(message, errors);
      return this.#options.dryRun
        ? { type: "dry_run", ...called, value: String(checked.value), gas: String(gas), result }
        : await this.#sign(checked, message, gas, signal);
    } catch (error) {
      return toResult(error);
    }
  }

  async broadcast(prepared: PreparedTx): Promise<Broadcast> {
    try {
      return await this.#send(prepared);
    } finally {
      this.abandon(prepared);
    }
  }

  abandon({ hash }: PreparedTx): void {
    this.#held.get(hash)?.();
    this.#held.delete(hash);
  }

  async confirm(prepared: PreparedTx, signal?: AbortSignal): Promise<ChainResult> {
    const { clock, confirmTimeoutMs } = this.#options;
    const { contractAddress, functionName, args, hash } = prepared;
    const endMs = clock.monotonicMs() + confirmTimeoutMs;
    for (;;) {
      const found = await this.#node.findReceipt(hash as Hex).catch(toFailure);
      if (found !== undefined && !(found instanceof ChainFailure)) {
        const { status, gasUsed, blockNumber } = found;
        const mined = { hash, status, gasUsed: String(gasUsed), blockNumber: Number(blockNumber) };
        return { type: "tx", contractAddress, functionName, args, ...mined };
      }
      if (clock.monotonicMs() >= endMs) {
        const trouble = found === undefined ? "" : ` ${found.message}`;
        const words = `Transaction ${hash} was not confirmed within ${confirmTimeoutMs / 1_000} s; it may be confirmed later.`;
        return { error: `${words}${trouble}`, hash };
      }
      await this.pause(signal);
    }
  }

  /**
   * Waits one poll interval.
   * @throws the signal's reason when it aborts.
   */
  async pause(signal?: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(this.#options.pollMs ?? pollMsUsual, signal);
    signal?.throwIfAborted();
  }

  async #checkChain(): Promise<void> {
    if (this.#isRightChain) {
      return;
    }
    const found = await this.#node.getChainId();
    const { chainId } = this.#options;
    if (found !== chainId) {
      throw new ChainFailure(`The node serves chain ${found}, not chain ${chainId} (decisions.tx.chain_id).`);
    }
    this.#isRightChain = true;
  }

  /** Adds a quarter to the estimated gas, up to the cap: the chain's state may change before the transaction is executed. */
  async #planGas(message: Message, errors: CheckedCall["errors"]): Promise<bigint> {
    const { gasMax } = this.#options;
    const needed = await this.#node.estimateGas(message, errors);
    if (needed > gasMax) {
      throw new ChainFailure(`gas: the call needs ${needed}, maximum ${gasMax} (decisions.tx.gas_max).`);
    }
    const roomy = (needed * 5n) / 4n;
    return roomy < gasMax ? roomy : gasMax;
  }

  async #sign(checked: CheckedCall, message: Message, gas: bigint, signal?: AbortSignal): Promise<PreparedTx> {
    const giveBack = await this.#turns.take(signal);
    try {
      const { chainId } = this.#options;
      const nonce = await this.#nextNonce();
      const raw = await this.#node.sign(this.#account, message, { chainId, nonce, gas });
      const hash = keccak256(raw);
      this.#held.set(hash, giveBack);
      return { type: "prepared", ...checked.called, chainId, from: message.from, nonce, hash, raw };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /**
   * Returns the next nonce by the node's count. The count may lag behind the last transaction, or the node may have lost that
   * transaction. Then the last transaction is sent again, since a reused nonce would replace it.
   */
  async #nextNonce(): Promise<number> {
    const count = await this.#node.countTransactions(this.#account.address);
    const last = this.#last;
    if (last === undefined || count > last.nonce) {
      return count;
    }
    const { state } = await this.#send(last);
    if (state === "unknown") {
      throw new ChainFailure("The previous transaction may not have been sent yet; no other is sent before it.");
    }
    return state === "sent" ? last.nonce + 1 : count;
  }

  async #send(prepared: PreparedTx): Promise<Broadcast> {
    const last = this.#last;
    if (last !== undefined && last.nonce === prepared.nonce && last.hash !== prepared.hash) {
      return { state: "refused", error: `Nonce ${prepared.nonce} was used by another transaction.` };
    }
    const broadcast = await this.#offer(prepared);
    if (broadcast.state !== "refused" && (last === undefined || last.nonce < prepared.nonce)) {
      this.#last = prepared;
    }
    if (broadcast.state === "refused" && last?.hash === prepared.hash) {
      this.#last = undefined;
    }
    return broadcast;
  }

  /**
   * Sends the bytes. A node that already has them answers with an error of its own wording, so the code asks whether it knows
   * the hash.
   */
  async #offer({ raw, hash }: PreparedTx): Promise<Broadcast> {
    try {
      await this.#node.broadcast(raw as Hex);
      return { state: "sent" };
    } catch (error) {
      const failure = toFailure(error);
      const isKnown = await this.#node.isKnown(hash as Hex).catch(toFailure);
      if (isKnown === true) {
        return { state: "sent" };
      }
      const isRefused = failure instanceof NodeRefusal && isKnown === false;
      return { state: isRefused ? "refused" : "unknown", error: failure.message };
    }
  }
}

/** Opens the account without passing on errors of the library, which may quote the key. */
function openAccount(privateKey: string): PrivateKeyAccount {
  try {
    return privateKeyToAccount(`0x${privateKey.replace(/^0x/i, "")}`);
  } catch {
    throw new Fault("CONFIG_INVALID", "decisions.tx.private_key is not a valid private key: give 64 hex digits");
  }
}

function toFailure(error: unknown): ChainFailure {
  if (error instanceof ChainFailure) {
    return error;
  }
  throw error;
}

function toResult(error: unknown): ErrorResult {
  return { error: toFailure(error).message };
}
