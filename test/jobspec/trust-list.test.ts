// The shared cases of trust: whose signatures count when, and which lists are invalid.

import { expect, test } from "vitest";
import { parseTrustList, TrustList } from "../../src/protocols/jobspec/verification/trust-list.ts";
import { trust } from "./cases.ts";

const list = new TrustList(parseTrustList(JSON.stringify(trust.trusted_keys_json)));

test.each(trust.cases)("$public_key at $now is $status", ({ public_key, now, status, reason }) => {
  expect(list.judge(Buffer.from(public_key, "base64"), Date.parse(now))).toMatchObject({ status, reason });
});

test.each([
  ...trust.load_errors.map(({ json, error }) => ({ json: withWholeKeys(json), error })),
  ...["", "null", '"text"', "[1]", "[null]", "[[]]", '[{"kid":1,"public_key":"AA=="}]', '{"trusted_keys":[]}'].map(
    (json) => ({
      json,
      error: "of another kind",
    }),
  ),
  ...["not_before", "not_after"].flatMap((name) =>
    ["yesterday", "2026-01-01", "2026-13-01T00:00:00Z", "1"].map((time) => ({
      json: JSON.stringify([{ kid: "a", public_key: keyOf(1), [name]: time }]),
      error: `${name} ${time}`,
    })),
  ),
  ...["AA==", "x".repeat(44), keyOf(1).replace("=", "=="), ` ${keyOf(1)}`, Buffer.alloc(33).toString("base64")].map(
    (key) => ({
      json: JSON.stringify([{ kid: "a", public_key: key }]),
      error: `the key ${key}`,
    }),
  ),
])("an invalid list is refused: $error", ({ json }) => {
  expect(() => parseTrustList(json)).toThrow(/^(?:entry 0|two entries|must be|not JSON)/);
});

test("keys are compared by their bytes, and may lack padding or a status", () => {
  const [padded, raw] = [keyOf(7), keyOf(7).replace("=", "")];
  expect(parseTrustList(JSON.stringify([{ kid: "a", public_key: raw }]))).toEqual([
    { kid: "a", publicKey: Buffer.alloc(32, 7), isRevoked: false, notBeforeMs: undefined, notAfterMs: undefined },
  ]);
  expect(() =>
    parseTrustList(JSON.stringify([padded, raw].map((key, index) => ({ kid: String(index), public_key: key })))),
  ).toThrow('two entries have the public_key of kid "1"');
});

/** In cases about another fault, replaces keys of one byte by valid ones. */
function withWholeKeys(json: string): string {
  return json.replaceAll("AA==", keyOf(0)).replaceAll("AQ==", keyOf(1));
}

function keyOf(byte: number): string {
  return Buffer.alloc(32, byte).toString("base64");
}
