// Finds the reason why a contract refused a call in the node's error.

import { BaseError, type Hex, RpcRequestError } from "viem";
import { decodeErrorResult } from "viem/utils";
import type { ContractAbi } from "./abi.ts";

/** Returns the contract's reason, in any length. Returns undefined when the contract did not refuse the call. */
export function findRevert(error: unknown, errors: ContractAbi["errors"]): string | undefined {
  const request = findRequestError(error);
  if (request === undefined) {
    return undefined;
  }
  const data = findData(request.data);
  if (data === undefined && request.code !== revertCode && !/\brevert/i.test(request.details)) {
    return undefined;
  }
  return data === undefined ? "no reason given" : describe(data, errors);
}

/** Returns the JSON-RPC error inside an error of the library. Returns undefined when the error has another cause. */
export function findRequestError(error: unknown): RpcRequestError | undefined {
  const found = error instanceof BaseError ? error.walk((each) => each instanceof RpcRequestError) : undefined;
  return found instanceof RpcRequestError ? found : undefined;
}

/** The error code of nodes that report reverts. */
const revertCode = 3;

function findData(data: unknown): Hex | undefined {
  const inner = typeof data === "object" && data !== null && "data" in data ? data.data : data;
  return typeof inner === "string" && /^0x(?:[0-9a-f]{2}){4,}$/i.test(inner) ? (inner as Hex) : undefined;
}

function describe(data: Hex, errors: ContractAbi["errors"]): string {
  try {
    const { errorName, args } = decodeErrorResult({ abi: errors, data });
    const values: readonly unknown[] = args ?? [];
    return errorName === "Error" ? String(values[0]) : `${errorName}(${values.map(print).join(", ")})`;
  } catch {
    return `an error that is not in the ABI, ${data}`;
  }
}

function print(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
}
