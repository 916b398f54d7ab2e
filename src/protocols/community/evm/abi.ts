// Reads the ABI of a contract as far as one call needs it: the functions of one name and the errors of a revert. The user who
// registered the contract wrote the ABI, so nothing in it is trusted.

import type { AbiFunction, AbiParameter } from "viem";
import { isObject, parseJson } from "../../../platform/base/json/parse-object.ts";
import { ChainFailure, show } from "./failure.ts";

/** The part of an ABI that one call needs. */
export interface ContractAbi {
  /** The functions of the requested name, at least one; overloads differ in their arguments. */
  readonly functions: readonly [AbiFunction, ...AbiFunction[]];
  readonly errors: readonly AbiError[];
}

interface AbiError {
  readonly type: "error";
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
}

/** The maximum length of an ABI. The largest contracts have a tenth of it. */
const abiCharsMax = 1_000_000;
/** The maximum depth of tuples. No compiler writes deeper ones. */
const depthMax = 8;
const errorsMax = 1_000;

/** Returns false for a missing or empty ABI: null, blank, `null` or `[]`. */
export function isThere(abi: string | null): abi is string {
  const text = abi?.trim() ?? "";
  return text !== "" && text !== "null" && !/^\[\s*\]$/.test(text);
}

/**
 * Reads the functions of one name and the errors of an ABI.
 * @throws ChainFailure when the ABI is malformed or has no such function.
 */
export function readAbi(text: string, functionName: string): ContractAbi {
  const items = parseItems(text);
  const named = items.filter((item) => item.type === "function" && item.name === functionName);
  const [first, ...more] = named.map((item) => readFunction(functionName, item));
  if (first === undefined) {
    throw new ChainFailure(`Contract ABI has no function ${show(functionName)}.`);
  }
  const errors = items.filter((item) => item.type === "error").slice(0, errorsMax);
  return { functions: [first, ...more], errors: errors.flatMap(readError) };
}

/** Returns true for a function that changes nothing. */
export function isView(item: AbiFunction): boolean {
  return item.stateMutability === "view" || item.stateMutability === "pure";
}

type Json = Readonly<Record<string, unknown>>;

function parseItems(text: string): readonly Json[] {
  const parsed = text.length <= abiCharsMax ? parseJson(text) : undefined;
  if (!Array.isArray(parsed)) {
    throw new ChainFailure(`Contract ABI is malformed: expected a JSON list of at most ${abiCharsMax} characters.`);
  }
  return parsed.filter(isObject);
}

function readFunction(name: string, item: Json): AbiFunction {
  return {
    type: "function",
    name,
    inputs: readParameters(item.inputs, `${name}.inputs`, 0),
    outputs: readParameters(item.outputs, `${name}.outputs`, 0),
    stateMutability: readMutability(item),
  };
}

/** Reads the mutability of a function. ABIs from before 2018 have `constant` and `payable` instead. */
function readMutability({ stateMutability, constant, payable }: Json): AbiFunction["stateMutability"] {
  switch (stateMutability) {
    case "view":
    case "pure":
    case "payable":
      return stateMutability;
    case undefined:
      return constant === true ? "view" : payable === true ? "payable" : "nonpayable";
    default:
      return "nonpayable";
  }
}

function readParameters(value: unknown, place: string, depth: number): AbiParameter[] {
  if (value === undefined) {
    return [];
  }
  if (!Array.isArray(value) || depth > depthMax) {
    throw malformed(place);
  }
  return value.map((each, index) => readParameter(each, `${place}[${index}]`, depth));
}

const elementary = /^(?:address|bool|string|bytes|bytes([1-9]\d?)|u?int([1-9]\d{0,2}))$/;
const suffixes = /(?:\[\d{0,6}\]){0,4}$/;

function readParameter(value: unknown, place: string, depth: number): AbiParameter {
  const { type, name, components } = isObject(value) ? value : {};
  const base = typeof type === "string" ? type.replace(suffixes, "") : "";
  const isTuple = base === "tuple";
  if (
    typeof type !== "string" ||
    (name !== undefined && typeof name !== "string") ||
    !(isTuple || isElementary(base))
  ) {
    throw malformed(place);
  }
  const named = { type, ...(name !== undefined && { name }) };
  if (!isTuple) {
    return named;
  }
  const parts = readParameters(components, `${place}.components`, depth + 1);
  if (parts.length === 0) {
    throw malformed(place);
  }
  return { ...named, components: parts };
}

function isElementary(type: string): boolean {
  const match = elementary.exec(type);
  const [, bytes = "1", bits = "8"] = match ?? [];
  return match !== null && Number(bytes) <= 32 && Number(bits) <= 256 && Number(bits) % 8 === 0;
}

function malformed(place: string): ChainFailure {
  return new ChainFailure(`Contract ABI is malformed: ${place} is not a parameter with a known type.`);
}

/** Reads an error. Returns an empty list for a malformed one: it explains no revert, but does not make a call invalid. */
function readError({ name, inputs }: Json): readonly AbiError[] {
  try {
    return typeof name === "string" ? [{ type: "error", name, inputs: readParameters(inputs, name, 0) }] : [];
  } catch {
    return [];
  }
}
