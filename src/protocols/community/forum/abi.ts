// Reads the functions in the ABI of a contract. An ABI is stored as the JSON text that was added.

import { memberOf, textMember } from "../../../platform/base/json/free.ts";
import { compactJson, findJson, type JsonNode } from "../../../platform/base/json/text.ts";

/** A function of a contract. */
export interface ContractFunction {
  readonly name: string;
  readonly stateMutability: string;
  /** A JSON array. */
  readonly inputs: string;
}

/** Returns the functions of an ABI; an invalid ABI gives an empty list. */
export function listAbiFunctions(abi: string): ContractFunction[] {
  const node = findJson(abi);
  const entries = node?.kind === "array" ? node.items : [];
  return entries.filter((entry) => textOf(entry, "type") === "function").map((entry) => readFunction(abi, entry));
}

/** Returns the problem that makes an ABI invalid. Returns undefined when it is valid. */
export function findAbiProblem(abi: string): string | undefined {
  const node = findJson(abi);
  if (node?.kind !== "array") {
    return "must be a JSON array, as compilers write an ABI";
  }
  const isComplete = (entry: JsonNode): boolean =>
    textOf(entry, "type") !== "" && (textOf(entry, "type") !== "function" || textOf(entry, "name") !== "");
  const at = node.items.findIndex((entry) => entry.kind !== "object" || !isComplete(entry));
  return at === -1 ? undefined : `entry ${at} must be an object with a type, and a function needs a name`;
}

function readFunction(abi: string, entry: JsonNode): ContractFunction {
  const inputs = memberOf(entry, "inputs");
  return {
    name: textOf(entry, "name"),
    stateMutability: textOf(entry, "stateMutability"),
    inputs: inputs?.kind === "array" ? compactJson(abi, inputs) : "[]",
  };
}

function textOf(node: JsonNode, name: string): string {
  return textMember(node, name)?.toWellFormed() ?? "";
}
