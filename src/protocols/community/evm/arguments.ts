// Converts JSON arguments to the values that their ABI types need. An error names the position of the invalid value.

import type { AbiFunction, AbiParameter } from "viem";
import { isAddress } from "viem/utils";
import { ChainFailure, show } from "./failure.ts";

/**
 * Reads the arguments of a function.
 * @throws ChainFailure that names the invalid argument.
 */
export function readArguments(item: AbiFunction, args: readonly unknown[]): readonly unknown[] {
  if (args.length !== item.inputs.length) {
    const types = item.inputs.map(describe).join(", ");
    throw new ChainFailure(
      `args: ${item.name}(${types}) takes ${count(item.inputs.length, "argument")}, got ${args.length}.`,
    );
  }
  return item.inputs.map((input, index) => readValue(input, args[index], `args[${index}]`));
}

function readValue(parameter: AbiParameter, value: unknown, place: string): unknown {
  const array = /^(.*)\[(\d*)\]$/.exec(parameter.type);
  if (array !== null) {
    const [, type = "", length = ""] = array;
    return readList({ ...parameter, type }, length, value, place);
  }
  if (parameter.type === "tuple") {
    return readTuple(parameter, value, place);
  }
  const integer = /^(u?)int(\d+)$/.exec(parameter.type);
  if (integer !== null) {
    return readInteger(value, { isSigned: integer[1] === "", bits: Number(integer[2]) }, parameter, place);
  }
  if (parameter.type.startsWith("bytes")) {
    return readBytes(parameter, value, place);
  }
  if (parameter.type === "address") {
    return readAddress(parameter, value, place);
  }
  const plain = plainTypes[parameter.type];
  if (plain?.isRight(value) !== true) {
    throw wrong(parameter, place, value, plain?.expected ?? "a known type");
  }
  return value;
}

interface PlainType {
  readonly isRight: (value: unknown) => boolean;
  readonly expected: string;
}

const plainTypes: Readonly<Record<string, PlainType>> = {
  bool: { isRight: (value) => typeof value === "boolean", expected: "true or false" },
  string: { isRight: isText, expected: "a string" },
};

/** The maximum length of a list. Each item takes at least 32 bytes, and no transaction holds this many. */
const itemsMax = 10_000;

/** Reads a list. The length must match the type exactly: the encoder would cut or refuse a longer list. */
function readList(item: AbiParameter, length: string, value: unknown, place: string): unknown {
  const isRight =
    Array.isArray(value) && value.length <= itemsMax && (length === "" || value.length === Number(length));
  if (!isRight) {
    const expected =
      length === "" ? `a list of at most ${itemsMax} items` : `a list of ${count(Number(length), "item")}`;
    throw wrong({ ...item, type: `${item.type}[${length}]` }, place, value, expected);
  }
  return value.map((each, index) => readValue(item, each, `${place}[${index}]`));
}

/** Reads a tuple by position, or by the names of its members. */
function readTuple(parameter: AbiParameter, value: unknown, place: string): unknown {
  const components = "components" in parameter ? parameter.components : [];
  const byPosition = Array.isArray(value) ? value : takeMembers(components, value);
  if (byPosition === undefined || byPosition.length !== components.length) {
    const members = components.map(describe).join(", ");
    throw wrong(parameter, place, value, `a list or an object of ${members}`);
  }
  const values = components.map((each, index) => readValue(each, byPosition[index], `${place}[${index}]`));
  // The encoder takes members by name when all of them have one.
  return components.every(({ name }) => name !== undefined && name !== "")
    ? Object.fromEntries(components.map(({ name }, index) => [name, values[index]]))
    : values;
}

function takeMembers(components: readonly AbiParameter[], value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== components.length) {
    return undefined;
  }
  const members = new Map(Object.entries(value));
  const isWhole = components.every(({ name }) => name !== undefined && members.has(name));
  return isWhole ? components.map(({ name = "" }) => members.get(name)) : undefined;
}

interface IntegerType {
  readonly isSigned: boolean;
  readonly bits: number;
}

/** 256 bits have at most 78 digits. */
const integerText = /^(?:0|-?[1-9]\d{0,77})$/;

function readInteger(value: unknown, { isSigned, bits }: IntegerType, parameter: AbiParameter, place: string): bigint {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw wrong(parameter, place, value, "a decimal string, because a JSON number this large is not exact");
  }
  const isRight = Number.isSafeInteger(value) || (isText(value) && integerText.test(value));
  if (!isRight) {
    throw wrong(parameter, place, value, "a whole number, large ones as a decimal string");
  }
  const integer = BigInt(value as number | string);
  const [low, high] = isSigned ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1)] : [0n, 2n ** BigInt(bits)];
  if (integer < low || integer >= high) {
    throw wrong(parameter, place, value, `a whole number from ${low} to ${high - 1n}`);
  }
  return integer;
}

function readBytes(parameter: AbiParameter, value: unknown, place: string): unknown {
  const size = parameter.type.slice("bytes".length);
  const isHex = isText(value) && /^0x(?:[0-9a-f]{2})*$/i.test(value);
  if (!isHex || (size !== "" && value.length !== 2 + 2 * Number(size))) {
    const digits = size === "" ? "an even number of hex digits" : `${2 * Number(size)} hex digits`;
    throw wrong(parameter, place, value, `0x and ${digits}`);
  }
  return value;
}

/** Capitals alone are no checksum (EIP-55), but the encoder takes them for one. */
function readAddress(parameter: AbiParameter, value: unknown, place: string): string {
  const address = isText(value) && /^0x[0-9A-F]{40}$/.test(value) ? value.toLowerCase() : value;
  if (!isText(address) || !isAddress(address)) {
    const expected = "an address: 0x and 40 hex digits, with a valid checksum if the case is mixed";
    throw wrong(parameter, place, value, expected);
  }
  return address;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function wrong(parameter: AbiParameter, place: string, value: unknown, expected: string): ChainFailure {
  return new ChainFailure(`${place} (${describe(parameter)}): expected ${expected}; got ${show(value)}.`);
}

function describe({ type, name }: AbiParameter): string {
  return name === undefined || name === "" ? type : `${type} ${name}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
