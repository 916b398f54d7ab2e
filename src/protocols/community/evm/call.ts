// What an agent asks of a contract, and what it is told of it. Everything here can be written as JSON.

export interface ChainContract {
  readonly id: string;
  readonly name: string;
  /** As the community calls it. Digits are the id of a chain, and have to be that of the settings. */
  readonly chain: string | null;
  readonly address: string | null;
  /** JSON text. */
  readonly abi: string | null;
  /** The functions that the community offers; others are not called. */
  readonly abiFunctions: readonly { readonly name: string }[];
}

/** Arguments and value come from a model: they may be anything that JSON can say. */
export interface ChainCall {
  /** Those of the agent's community. */
  readonly contracts: readonly ChainContract[];
  /** Without one it is the first contract. */
  readonly contractAddress?: string | null | undefined;
  readonly functionName: string;
  readonly args: unknown;
  /** Wei as decimal text. */
  readonly value?: unknown;
}

/** What every result names: the contract as the community writes it, and the arguments as they were given. */
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

export interface TxResult extends Called {
  readonly type: "tx";
  readonly hash: string;
  /** 0 when it was mined and reverted. */
  readonly status: 0 | 1;
  readonly gasUsed: string;
  readonly blockNumber: number;
}

/** What would have been sent, as far as the node can tell beforehand. */
export interface DryRunResult extends Called {
  readonly type: "dry_run";
  readonly value: string;
  readonly gas: string;
  readonly result: unknown;
}

/** With a hash: it was sent or may have been, and may still be mined. Without: nothing was sent. */
export interface ErrorResult {
  readonly type?: undefined;
  readonly error: string;
  readonly hash?: string;
}

export type ChainResult = CallResult | TxResult | DryRunResult | ErrorResult;

/** A signed transaction, to be stored before it is broadcast. Whoever has it can have it executed, once. */
export interface PreparedTx extends Called {
  readonly type: "prepared";
  readonly chainId: number;
  readonly from: string;
  readonly nonce: number;
  readonly hash: string;
  readonly raw: string;
}
