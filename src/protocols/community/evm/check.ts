// Checks a call without asking the node: first the community's rules in the order and words of the document, then the
// operator's rules, then whether the call is valid at all.

import type { AbiFunction, Hex } from "viem";
import { encodeFunctionData } from "viem/utils";
import { type ContractAbi, isThere, readAbi } from "./abi.ts";
import { type AllowedContract, isAllowed, isSameAddress } from "./allow.ts";
import { readArguments } from "./arguments.ts";
import type { Called, ChainCall, ChainContract } from "./call.ts";
import { ChainFailure, show } from "./failure.ts";

/** The operator's rules. */
export interface CallRules {
  readonly chainId: number;
  /** The only functions that may be called, even if a community offers more. */
  readonly allowed: readonly AllowedContract[];
  readonly valueMaxWei: bigint;
}

/** A call that passed all checks, with its encoded data. */
export interface CheckedCall {
  readonly called: Called;
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
  readonly item: AbiFunction;
  readonly errors: ContractAbi["errors"];
}

/**
 * Checks a call.
 * @throws ChainFailure with the first rule that it breaks.
 */
export function checkCall(call: ChainCall, rules: CallRules): CheckedCall {
  const functionName = String(call.functionName ?? "").trim();
  const { address, abi } = chooseContract(call, functionName);
  checkRules(call, address, functionName, rules);
  const args = readList(call.args);
  const { functions, errors } = readAbi(abi, functionName);
  const { item, values } = chooseFunction(functions, args);
  const value = readValue(call.value, item, rules.valueMaxWei);
  const called = { contractAddress: address, functionName, args };
  // The client of the node takes mixed case only with a valid checksum. Here case never counts.
  const to = address.toLowerCase() as Hex;
  return { called, to, data: encode(item, values), value, item, errors };
}

interface ChosenContract {
  readonly address: string;
  readonly abi: string;
}

function chooseContract({ contracts, contractAddress }: ChainCall, functionName: string): ChosenContract {
  const wanted = String(contractAddress ?? "").trim();
  const contract = wanted === "" ? contracts[0] : contracts.find(({ address }) => isSameAddress(trim(address), wanted));
  if (wanted !== "" && contract === undefined) {
    throw new ChainFailure("Contract address not allowed.");
  }
  const address = trim(contract?.address);
  if (contract === undefined || address === "") {
    throw new ChainFailure("Contract address not available.");
  }
  if (!isThere(contract.abi)) {
    throw new ChainFailure("Contract ABI not available.");
  }
  if (functionName === "" || !contract.abiFunctions.some(({ name }) => name === functionName)) {
    throw new ChainFailure("Function not allowed.");
  }
  return { address, abi: contract.abi };
}

function trim(address: string | null | undefined): string {
  return (address ?? "").trim();
}

function checkRules(call: ChainCall, address: string, functionName: string, { chainId, allowed }: CallRules): void {
  const chain = findChain(call.contracts, address);
  if (/^\d+$/.test(chain) && chain !== String(chainId)) {
    throw new ChainFailure(`Contract is on chain ${chain}; transactions are for chain ${chainId} only.`);
  }
  if (!/^0x[0-9a-f]{40}$/i.test(address)) {
    throw new ChainFailure(`Contract address is malformed: ${show(address)}.`);
  }
  if (!isAllowed(allowed, address, functionName)) {
    throw new ChainFailure(`Not on the operator's allow-list: ${address}:${functionName} (decisions.tx.allow).`);
  }
}

function findChain(contracts: readonly ChainContract[], address: string): string {
  return trim(contracts.find((each) => trim(each.address) === address)?.chain);
}

function readList(args: unknown): readonly unknown[] {
  if (args === undefined || args === null) {
    return [];
  }
  if (!Array.isArray(args)) {
    throw new ChainFailure(`args: expected a list; got ${show(args)}.`);
  }
  return args;
}

interface ChosenFunction {
  readonly item: AbiFunction;
  readonly values: readonly unknown[];
}

/** Chooses the overload that the arguments fit. If none fits, the error is that of the last candidate. */
function chooseFunction(functions: ContractAbi["functions"], args: readonly unknown[]): ChosenFunction {
  const sameCount = functions.filter(({ inputs }) => inputs.length === args.length);
  const fitting: ChosenFunction[] = [];
  let failure: unknown;
  for (const item of sameCount.length === 0 ? [functions[0]] : sameCount) {
    try {
      fitting.push({ item, values: readArguments(item, args) });
    } catch (error) {
      failure = error;
    }
  }
  const [first, second] = fitting;
  if (first === undefined) {
    throw failure;
  }
  if (second !== undefined) {
    throw new ChainFailure(`args: they match several functions ${first.item.name} of the contract.`);
  }
  return first;
}

function readValue(value: unknown, item: AbiFunction, valueMaxWei: bigint): bigint {
  if (value === undefined || value === null) {
    return 0n;
  }
  if (typeof value === "number") {
    throw new ChainFailure(`value: ${show(value)} is a JSON number: use a decimal string.`);
  }
  if (typeof value !== "string" || !/^\d{1,78}$/.test(value)) {
    throw new ChainFailure(`value: expected wei as a whole decimal number in a string; got ${show(value)}.`);
  }
  const wei = BigInt(value);
  if (wei > valueMaxWei) {
    throw new ChainFailure(`value: ${wei} wei is above the maximum of ${valueMaxWei} (decisions.tx.value_max_wei).`);
  }
  if (wei > 0n && item.stateMutability !== "payable") {
    throw new ChainFailure(`value: ${item.name} is not payable: leave value out.`);
  }
  return wei;
}

/** The maximum size of a transaction's data. Nodes refuse larger ones. */
const dataBytesMax = 100_000;

function encode(item: AbiFunction, values: readonly unknown[]): Hex {
  const data = encodeOrNothing(item, values);
  if (data === undefined) {
    throw new ChainFailure(`args: they cannot be encoded for ${item.name}.`);
  }
  if (data.length > 2 + 2 * dataBytesMax) {
    throw new ChainFailure(`args: they have more than ${dataBytesMax} bytes.`);
  }
  return data;
}

function encodeOrNothing(item: AbiFunction, values: readonly unknown[]): Hex | undefined {
  try {
    return encodeFunctionData({ abi: [item], functionName: item.name, args: values });
  } catch {
    return undefined;
  }
}
