// The calls that agents ask for and their results. All types here can be written as JSON.

/** Attempts to broadcast, for a node that is unavailable for a moment. */
export const broadcastsMax = 3;

/** A contract of a community. */
export interface ChainContract {
  readonly id: string;
  readonly name: string;
  /** The community's name for the chain. A number is a chain id, and must be that of the settings. */
  readonly chain: string | null;
  readonly address: string | null;
  /** JSON text. */
  readonly abi: string | null;
  /** The functions that the community offers; only these can be called. */
  readonly abiFunctions: readonly { readonly name: string }[];
}

/** A call that an agent asks for. Arguments and value come from a model, so they may be any JSON. */
export interface ChainCall {
  /** The contracts of the agent's community. */
  readonly contracts: readonly ChainContract[];
  /** Undefined, null or empty means the first contract. */
  readonly contractAddress?: string | null | undefined;
  readonly functionName: string;
  readonly args: unknown;
  /** Wei as decimal text. */
  readonly value?: unknown;
}

/** The fields of every result: the contract as the community writes it, and the arguments as they were given. */
export interface Called {
  readonly contractAddress: string;
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** The answer of a function that changes nothing. Integers are decimal text; several outputs, and tuples, are lists. */
export interface CallResult extends Called {
  readonly type: "call";
  readonly result: unknown;
}

/** The outcome of a mined transaction. */
export interface TxResult extends Called {
  readonly type: "tx";
  readonly hash: string;
  /** 0 when the transaction was mined and reverted. */
  readonly status: 0 | 1;
  readonly gasUsed: string;
  readonly blockNumber: number;
}

/** The outcome of a dry run: the transaction that would have been sent, as the node simulates it. */
export interface DryRunResult extends Called {
  readonly type: "dry_run";
  readonly value: string;
  readonly gas: string;
  readonly result: unknown;
}

/**
 * A failed call. With a hash, the transaction was or may have been sent, and may still be mined; without one, nothing was sent.
 */
export interface ErrorResult {
  readonly type?: undefined;
  readonly error: string;
  readonly hash?: string;
}

/** The outcome of a call. */
export type ChainResult = CallResult | TxResult | DryRunResult | ErrorResult;

/** A signed transaction, to be stored before it is broadcast. Anyone who has it can have it executed, once. */
export interface PreparedTx extends Called {
  readonly type: "prepared";
  readonly chainId: number;
  readonly from: string;
  readonly nonce: number;
  readonly hash: string;
  readonly raw: string;
}
