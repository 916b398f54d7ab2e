// What a function answers, as JSON: integers as decimal text whatever their size, tuples as lists.

import type { AbiFunction, AbiParameter, Hex } from "viem";
import { decodeAbiParameters } from "viem/utils";
import { ChainFailure } from "./failure.ts";

/** The agent reads it as text; more than this is no answer to a question. */
const resultCharsMax = 50_000;

/** One output is the result; none or several are a list. */
export function readOutputs({ outputs, name }: AbiFunction, data: Hex): unknown {
  if (data === "0x" && outputs.length > 0) {
    throw new ChainFailure(`${name} answered nothing: there may be no such contract at this address on this chain.`);
  }
  const values = toJson(decode(outputs, data)) as readonly unknown[];
  const result = values.length === 1 ? values[0] : values;
  if (JSON.stringify(result).length > resultCharsMax) {
    throw new ChainFailure(`${name} answered more than ${resultCharsMax} characters.`);
  }
  return result;
}

function decode(outputs: readonly AbiParameter[], data: Hex): unknown {
  try {
    return outputs.length === 0 ? [] : decodeAbiParameters(outputs.map(dropNames), data);
  } catch {
    throw new ChainFailure("The answer of the contract does not fit its ABI.");
  }
}

/** Members without names are decoded as a list; with them, two of the same name would be one. */
function dropNames({ name: _, ...parameter }: AbiParameter): AbiParameter {
  return "components" in parameter ? { ...parameter, components: parameter.components.map(dropNames) } : parameter;
}

function toJson(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(toJson);
  }
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
}
