// The checks of a call before the node is asked: contract and function, arguments, value.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAllowed } from "../../src/protocols/community/evm/allow.ts";
import type { ChainCall, ChainContract } from "../../src/protocols/community/evm/call.ts";
import { type CallRules, checkCall } from "../../src/protocols/community/evm/check.ts";
import { ChainFailure } from "../../src/protocols/community/evm/failure.ts";
import { openChain } from "../../src/protocols/community/evm/open.ts";
import { ledgerAt, ledgerFunctions } from "./calls.ts";

const address = "0xAbCdEf0123456789aBcDeF0123456789abCDef01";
const other = "0x00000000000000000000000000000000000000aa";

const rules: CallRules = {
  chainId: 31_337,
  allowed: [{ address, functions: ledgerFunctions }],
  valueMaxWei: 10n,
};

function refusal(call: Partial<ChainCall>, changed: Partial<CallRules> = {}): string {
  const whole = { contracts: [ledgerAt(address)], functionName: "add", args: ["1"], ...call };
  try {
    checkCall(whole, { ...rules, ...changed });
  } catch (error) {
    if (error instanceof ChainFailure) {
      return error.message;
    }
    throw error;
  }
  return "none";
}

function refusalOf(changes: Partial<ChainContract>, call: Partial<ChainCall> = {}): string {
  return refusal({ contracts: [ledgerAt(address, changes)], ...call });
}

test("without a configured chain every call gets the document's error, before any check", async () => {
  const chain = await openChain(undefined);
  const missing = { error: "Execution wallet or Alchemy key missing." };
  expect(await chain.execute({ contracts: [], functionName: "", args: 1 })).toEqual(missing);
  expect(await chain.prepare({ contracts: [], functionName: "", args: 1 })).toEqual(missing);
});

test("the document's errors come first, in its order and with its messages", () => {
  const empty = { address: " ", abi: "[]", abiFunctions: [], chain: "1" };
  const wrong = { functionName: "nothing", args: 5, value: "much" };
  const stages: readonly [Partial<ChainContract>, Partial<ChainCall>, string][] = [
    [empty, { ...wrong, contractAddress: other }, "Contract address not allowed."],
    [empty, wrong, "Contract address not available."],
    [{ ...empty, address: "0x12" }, wrong, "Contract ABI not available."],
    [{ ...empty, address: "0x12", abi: "{" }, wrong, "Function not allowed."],
    [
      { ...empty, address: "0x12", abi: "{", abiFunctions: [{ name: "nothing" }] },
      wrong,
      "Contract is on chain 1; transactions are for chain 31337 only.",
    ],
    [{ address: "0x12", abi: "{" }, {}, 'Contract address is malformed: "0x12".'],
    [{ address: other, abi: "{" }, {}, `Not on the operator's allow-list: ${other}:add (decisions.tx.allow).`],
    [{ abi: "{" }, { args: 5 }, "args: expected a list; got 5."],
    [{ abi: "{" }, {}, "Contract ABI is malformed: expected a JSON list of at most 1000000 characters."],
    [{}, { args: ["1", "2"], value: 5 }, "args: add(uint256 amount) takes 1 argument, got 2."],
    [{}, { value: 5 }, "value: 5 is a JSON number: use a decimal string."],
  ];
  for (const [changes, call, words] of stages) {
    expect(refusalOf(changes, call)).toBe(words);
  }
  expect(refusal({})).toBe("none");
});

test("without a contract no address is available, and any address is refused", () => {
  expect(refusal({ contracts: [] })).toBe("Contract address not available.");
  expect(refusal({ contracts: [], contractAddress: address })).toBe("Contract address not allowed.");
  expect(refusalOf({ address: null })).toBe("Contract address not available.");
  expect(refusalOf({ abi: null })).toBe("Contract ABI not available.");
  expect(refusal({ functionName: "" })).toBe("Function not allowed.");
  expect(refusal({ functionName: "ADD" })).toBe("Function not allowed.");
});

test("addresses ignore case, and names and addresses ignore surrounding white space", () => {
  for (const contractAddress of [
    address.toLowerCase(),
    `0x${address.slice(2).toUpperCase()}`,
    ` ${address}\n`,
    "",
    null,
  ]) {
    expect(refusal({ contractAddress })).toBe("none");
  }
  const { called } = checkCall({ contracts: [ledgerAt(address)], functionName: " add ", args: [1] }, rules);
  expect(called).toEqual({ contractAddress: address, functionName: "add", args: [1] });
});

test("the contract is the first one, or that of the given address", () => {
  const contracts = [ledgerAt(other), ledgerAt(address)];
  expect(refusal({ contracts })).toMatch(/^Not on the operator's allow-list: 0x0{38}aa:add/);
  expect(refusal({ contracts, contractAddress: address })).toBe("none");
});

test("the operator allows single functions of a contract, views included", () => {
  const allowed = readAllowed([`${address}:add`, `${other}:limit`]);
  expect(refusal({}, { allowed })).toBe("none");
  for (const functionName of ["limit", "pay"]) {
    expect(refusal({ functionName, args: [] }, { allowed })).toMatch(/^Not on the operator's allow-list/);
  }
  expect(refusal({}, { allowed: [] })).toMatch(/^Not on the operator's allow-list/);
});

test.each([
  ["10", "none"],
  ["0", "none"],
  [null, "none"],
  ["11", "value: 11 wei is above the maximum of 10 (decisions.tx.value_max_wei)."],
  ["9".repeat(78), `value: ${"9".repeat(78)} wei is above the maximum of 10 (decisions.tx.value_max_wei).`],
  [1, "value: 1 is a JSON number: use a decimal string."],
  [1e21, "value: 1e+21 is a JSON number: use a decimal string."],
  ...["-1", "+1", "1.5", "1e3", "0x10", "1 ether", " 1", "", "9".repeat(79), true, [], {}].map((value) => [
    value,
    expect.stringMatching(/^value: expected wei as a whole decimal number in a string; got /),
  ]),
])("a value of %j is accepted or refused with a message", (value, words) => {
  expect(refusal({ functionName: "pay", args: [], value })).toEqual(words);
});

test("a function that is not payable takes no value", () => {
  expect(refusal({ value: "1" })).toBe("value: add is not payable: leave value out.");
  expect(refusal({ value: "0" })).toBe("none");
});

describe("arguments", () => {
  const inputs = (...types: string[]) =>
    JSON.stringify([{ type: "function", name: "add", stateMutability: "nonpayable", inputs: types.map(toInput) }]);
  const toInput = (type: string) => ({
    type,
    name: "",
    ...(type.startsWith("tuple") && {
      components: [
        { name: "to", type: "address" },
        { name: "amount", type: "uint8" },
      ],
    }),
  });
  const entry = { to: other, amount: 1 };
  const max = String(2n ** 256n - 1n);

  test.each<[string, unknown]>([
    ["uint256", max],
    ["uint256", Number.MAX_SAFE_INTEGER],
    ["uint8", 255],
    ["int8", -128],
    ["int256", `-${2n ** 255n}`],
    ["address", other],
    ["address", address.toLowerCase()],
    ["address", `0x${address.slice(2).toUpperCase()}`],
    ["bool", false],
    ["string", ""],
    ["string", "\ud800"],
    ["bytes", "0x"],
    ["bytes", "0xAb"],
    ["bytes3", "0x010203"],
    ["uint8[]", []],
    ["uint8[2][]", [[1, "2"]]],
    ["tuple", entry],
    ["tuple", [other, "1"]],
    ["tuple[1]", [entry]],
  ])("%s accepts %j", (type, value) => {
    expect(refusalOf({ abi: inputs(type) }, { args: [value] })).toBe("none");
  });

  test.each<[string, unknown, string]>([
    ["uint256", 2 ** 53, "a decimal string, because a JSON number this large is not exact; got 9007199254740992."],
    ["uint256", 1e21, "is not exact; got 1e+21."],
    ["int64", -(2 ** 60), "is not exact; got -11529215046068"],
    ["uint256", "1e18", 'a whole number, large ones as a decimal string; got "1e18".'],
    ["uint256", "0x10", "a whole number"],
    ["uint256", "007", "a whole number"],
    ["uint256", 1.5, "a whole number"],
    ["uint256", true, "a whole number"],
    ["uint256", null, "a whole number"],
    ["uint256", "9".repeat(100), "a whole number"],
    ["uint256", String(2n ** 256n), `from 0 to ${max}`],
    ["uint256", "-1", `from 0 to ${max}`],
    ["uint8", 256, "from 0 to 255; got 256."],
    ["int8", 128, "from -128 to 127"],
    ["address", other.slice(2), "an address"],
    ["address", `${address.slice(0, -1)}2`, "with a valid checksum if the case is mixed"],
    ["address", 5, "an address"],
    ["bool", "true", 'true or false; got "true".'],
    ["string", 5, "a string; got 5."],
    ["bytes", "0xa", "0x and an even number of hex digits"],
    ["bytes", "ab", "0x and"],
    ["bytes3", "0x0102", "0x and 6 hex digits"],
    ["uint8[]", 1, "a list"],
    ["uint8[]", Array(10_001).fill(1), "a list of at most 10000 items; got [1,1,"],
    ["uint8[2]", [1], "a list of 2 items; got [1]."],
    ["tuple", { to: other }, "a list or an object of address to, uint8 amount"],
    ["tuple", { ...entry, more: 1 }, "a list or an object"],
    ["tuple", [other], "a list or an object"],
    ["tuple", null, "a list or an object"],
    ["tuple", JSON.parse('{"__proto__": 1, "amount": 1}'), "a list or an object"],
  ])("%s refuses %j", (type, value, words) => {
    const message = refusalOf({ abi: inputs("bool", type) }, { args: [true, value] });
    expect(message).toContain(words);
    expect(message).toMatch(/^args\[1\] \(/);
  });

  test("an error in a nested value names its path", () => {
    expect(refusalOf({ abi: inputs("tuple[]") }, { args: [[entry, { to: other, amount: 300 }]] })).toBe(
      "args[0][1][1] (uint8 amount): expected a whole number from 0 to 255; got 300.",
    );
  });

  test("of overloaded functions the one that fits the arguments is called; two that fit are refused", () => {
    const selectorOf = (args: readonly unknown[]) =>
      checkCall({ contracts: [ledgerAt(address)], functionName: "store", args }, rules).data.slice(0, 10);
    expect(selectorOf(["words"])).not.toBe(selectorOf([5]));
    expect(refusal({ functionName: "store", args: ["5"] })).toBe(
      "args: they match several functions store of the contract.",
    );
    expect(refusal({ functionName: "store", args: [[]] })).toMatch(/^args\[0\] \(uint256 amount\): expected a whole/);
    expect(refusal({ functionName: "store", args: [] })).toMatch(/^args: store\(\w+ \w+\) takes 1 argument, got 0/);
  });

  test("arguments that exceed the size of a transaction are refused", () => {
    const args = ["x".repeat(100_001)];
    expect(refusal({ functionName: "store", args })).toBe("args: they have more than 100000 bytes.");
  });
});

test.each<[string, RegExp]>([
  ["{", /^Contract ABI is malformed: expected a JSON list/],
  ["{}", /^Contract ABI is malformed: expected a JSON list/],
  ["[1]", /^Contract ABI has no function "add"\.$/],
  ['["function add(uint256)"]', /^Contract ABI has no function/],
  ['[{"type":"event","name":"add"}]', /^Contract ABI has no function/],
  ['[{"type":"function","name":"add","inputs":{}}]', /malformed: add\.inputs is no/],
  ['[{"type":"function","name":"add","inputs":[null]}]', /malformed: add\.inputs\[0\] is no/],
])("a malformed ABI is refused: %s", (abi, words) => {
  expect(refusalOf({ abi })).toMatch(words);
});

test.each(["uint", "uint7", "uint264", "bytes33", "fixed", "tuple", "uint8[", "[]", "uint8[1][1][1][1][1]", ""])(
  "a parameter type of %j is unknown",
  (type) => {
    const abi = JSON.stringify([{ type: "function", name: "add", inputs: [{ type }] }]);
    expect(refusalOf({ abi })).toBe("Contract ABI is malformed: add.inputs[0] is not a parameter with a known type.");
  },
);

test("an ABI that is too long, or nests tuples too deep, is refused", () => {
  expect(refusalOf({ abi: `[${" ".repeat(1_000_000)}1]` })).toMatch(/^Contract ABI is malformed: expected a JSON list/);
  const depth = 50;
  const nested = `${'{"type":"tuple","name":"x","components":['.repeat(depth)}{"type":"bool"}${"]}".repeat(depth)}`;
  expect(refusalOf({ abi: `[{"type":"function","name":"add","inputs":[${nested}]}]` })).toMatch(/malformed/);
});

test("any input from a model or a community gives a call or an error", () => {
  const type = fc.constantFrom("uint256", "int8", "address", "bool", "string", "bytes", "bytes32", "tuple", "x", "");
  const suffix = fc.constantFrom("", "[]", "[2]", "[][3]");
  const input = fc.record({
    name: fc.string(),
    type: fc.tuple(type, suffix).map((parts) => parts.join("")),
    components: fc.oneof(fc.constant([{ name: "__proto__", type: "bool" }]), fc.jsonValue()),
  });
  const item = fc.record({ type: fc.constant("function"), name: fc.constant("add"), inputs: fc.array(input) });
  const abi = fc.oneof(
    fc.array(item, { minLength: 1 }).map((items) => JSON.stringify(items)),
    fc.json(),
    fc.string(),
  );
  const call = fc.record({
    contracts: abi.map((text) => [ledgerAt(address, { abi: text })]),
    contractAddress: fc.option(fc.constantFrom(address, other, "", "x")),
    functionName: fc.constantFrom("add", "limit", ""),
    args: fc.oneof(fc.array(fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()))), fc.anything()),
    value: fc.oneof(fc.anything(), fc.constantFrom("1", 1, undefined)),
  });
  fc.assert(
    fc.property(call, (each) => {
      expect(refusal(each).length).toBeLessThan(600);
    }),
    { numRuns: 500 },
  );
});
