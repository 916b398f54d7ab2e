// Converts the answer of a function to JSON: all integers as decimal text, tuples as lists.

import type { AbiFunction, AbiParameter, Hex } from "viem";
import { decodeAbiParameters } from "viem/utils";
import { ChainFailure } from "./failure.ts";

/** The maximum length of an answer. The agent reads it as text; a longer one answers no question. */
const resultCharsMax = 50_000;

/**
 * Reads the outputs of a function. A single output is the result; otherwise the result is a list.
 * @throws ChainFailure when the data does not fit the ABI or is too long.
 */
export function readOutputs({ outputs, name }: AbiFunction, data: Hex): unknown {
  if (data === "0x" && outputs.length > 0) {
    throw new ChainFailure(`${name} returned no data: this address may have no such contract on this chain.`);
  }
  const values = toJson(decode(outputs, data)) as readonly unknown[];
  const result = values.length === 1 ? values[0] : values;
  if (JSON.stringify(result).length > resultCharsMax) {
    throw new ChainFailure(`${name} returned more than ${resultCharsMax} characters.`);
  }
  return result;
}

function decode(outputs: readonly AbiParameter[], data: Hex): unknown {
  try {
    return outputs.length === 0 ? [] : decodeAbiParameters(outputs.map(dropNames), data);
  } catch {
    throw new ChainFailure("The contract's answer does not match its ABI.");
  }
}

/** Drops the names of members, so that they decode as a list: an object would lose members with equal names. */
function dropNames({ name: _, ...parameter }: AbiParameter): AbiParameter {
  return "components" in parameter ? { ...parameter, components: parameter.components.map(dropNames) } : parameter;
}

function toJson(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(toJson);
  }
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
}
