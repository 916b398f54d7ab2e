// The client of the chain's node over JSON-RPC. The node's address is the operator's and may hold a key. The library's errors
// contain it, and the node's answers may repeat it, so no such error leaves this file.

import {
  BaseError,
  type Client,
  createClient,
  type Hex,
  HttpRequestError,
  http,
  type PrivateKeyAccount,
  TimeoutError,
  TransactionReceiptNotFoundError,
} from "viem";
import {
  call,
  estimateFeesPerGas,
  estimateGas,
  getBlock,
  getChainId,
  getGasPrice,
  getTransactionCount,
  getTransactionReceipt,
  sendRawTransaction,
} from "viem/actions";
import { createScrubber, type Scrubber } from "../../../platform/telemetry/scrub.ts";
import type { ContractAbi } from "./abi.ts";
import { ChainFailure, quote } from "./failure.ts";
import { findRequestError, findRevert } from "./revert.ts";

/** The node's address and the timeout of its answers. */
export interface NodeOptions {
  readonly rpcUrl: string;
  /** Texts besides the URL that no message may contain. */
  readonly secrets: readonly string[];
  readonly answerTimeoutMs: number;
}

/** A message to a contract. */
export interface Message {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
}

/** The receipt of a mined transaction. */
export interface Receipt {
  readonly status: 0 | 1;
  readonly gasUsed: bigint;
  readonly blockNumber: bigint;
}

/** The calls to the node. They throw nothing but ChainFailure. */
export interface ChainNode {
  getChainId(): Promise<number>;
  /** Returns what the function would answer. The error of a revert has its reason. */
  simulate(message: Message, errors: ContractAbi["errors"]): Promise<Hex>;
  estimateGas(message: Message, errors: ContractAbi["errors"]): Promise<bigint>;
  /** Counts the sender's transactions, including those that are not mined yet. */
  countTransactions(from: Hex): Promise<number>;
  sign(account: PrivateKeyAccount, message: Message, frame: TxFrame): Promise<Hex>;
  broadcast(raw: Hex): Promise<void>;
  isKnown(hash: Hex): Promise<boolean>;
  /** Returns undefined while the transaction is not mined. */
  findReceipt(hash: Hex): Promise<Receipt | undefined>;
}

/** The fields of a transaction that the message does not have. */
export interface TxFrame {
  readonly chainId: number;
  readonly nonce: number;
  readonly gas: bigint;
}

/** The node understood the request and refused it: nothing was done. */
export class NodeRefusal extends ChainFailure {}

/** Creates the client of a node. */
export function openNode({ rpcUrl, secrets, answerTimeoutMs }: NodeOptions): ChainNode {
  const transport = http(rpcUrl, { retryCount: 0, timeout: answerTimeoutMs, fetchOptions: { redirect: "error" } });
  // CCIP is off: a contract may ask for an answer from any URL that it names, and this service must not call it.
  const client = createClient({ transport, ccipRead: false });
  const scrubber = createScrubber([...secretsOfUrl(rpcUrl), ...secrets]);
  const ask = async <T>(question: () => Promise<T>, errors?: ContractAbi["errors"]): Promise<T> => {
    try {
      return await question();
    } catch (error) {
      throw describeTrouble(error, errors, scrubber);
    }
  };
  return {
    getChainId: () => ask(() => getChainId(client)),
    simulate: ({ from, to, data, value }, errors) =>
      ask(async () => (await call(client, { account: from, to, data, value })).data ?? "0x", errors),
    estimateGas: ({ from, to, data, value }, errors) =>
      ask(() => estimateGas(client, { account: from, to, data, value, prepare: false }), errors),
    countTransactions: (address) => ask(() => getTransactionCount(client, { address, blockTag: "pending" })),
    sign: (account, { to, data, value }, frame) =>
      ask(async () => {
        const fees = await findFees(client);
        return await account.signTransaction({ to, data, value, ...frame, ...fees });
      }),
    broadcast: (serializedTransaction) =>
      ask(async () => {
        await sendRawTransaction(client, { serializedTransaction });
      }),
    isKnown: (hash) =>
      ask(async () => (await client.request({ method: "eth_getTransactionByHash", params: [hash] })) !== null),
    findReceipt: (hash) => ask(() => findReceipt(client, hash)),
  };
}

/** Returns the fees. Chains without a base fee take legacy transactions. */
async function findFees(client: Client) {
  const { baseFeePerGas } = await getBlock(client);
  if (baseFeePerGas === null) {
    return { type: "legacy", gasPrice: await getGasPrice(client) } as const;
  }
  const { maxFeePerGas, maxPriorityFeePerGas } = await estimateFeesPerGas(client);
  return { type: "eip1559", maxFeePerGas, maxPriorityFeePerGas } as const;
}

async function findReceipt(client: Client, hash: Hex): Promise<Receipt | undefined> {
  try {
    const { status, gasUsed, blockNumber } = await getTransactionReceipt(client, { hash });
    return { status: status === "success" ? 1 : 0, gasUsed, blockNumber };
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Returns the parts of a URL that may be secret. Hosted nodes have the key in the path or the query, and may quote each part
 * alone.
 */
function secretsOfUrl(rpcUrl: string): readonly string[] {
  const { pathname, search, searchParams, username } = new URL(rpcUrl);
  const rest = `${pathname}${search}`;
  return [rpcUrl, rest, rest.slice(1), username, ...pathname.split("/"), ...searchParams.values()];
}

function describeTrouble(
  error: unknown,
  errors: ContractAbi["errors"] | undefined,
  { scrubText }: Scrubber,
): ChainFailure {
  const revert = errors === undefined ? undefined : findRevert(error, errors);
  if (revert !== undefined) {
    return new ChainFailure(`Reverted in simulation: ${quote(scrubText(revert))}.`);
  }
  const request = findRequestError(error);
  if (request !== undefined) {
    const words = `The node refused the request: ${quote(scrubText(String(request.details ?? "no reason given")))}`;
    return refusals.has(request.code) ? new NodeRefusal(words) : new ChainFailure(words);
  }
  if (!(error instanceof BaseError)) {
    return new ChainFailure("The node sent an invalid answer: the URL may not be that of an EVM node.");
  }
  if (error.walk((each) => each instanceof TimeoutError) !== null) {
    return new ChainFailure(`The node did not answer in time.`);
  }
  const http = error.walk((each) => each instanceof HttpRequestError);
  const status = http instanceof HttpRequestError ? http.status : undefined;
  return new ChainFailure(
    status === undefined ? "The node cannot be reached." : `The node answered with HTTP status ${status}.`,
  );
}

/** Codes of a refusal: invalid input, transaction rejected, invalid parameters. Other codes may mean a transport problem. */
const refusals: ReadonlySet<number> = new Set([-32_000, -32_003, -32_602]);
