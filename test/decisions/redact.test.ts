// Which parts of texts are redacted, and which are not.

import { expect, test } from "vitest";
import { createRedact, redactJson } from "../../src/protocols/community/decisions/redact.ts";

const redact = createRedact((text) => text.replaceAll("the-secret", "[redacted]"));
const hex = (digits: number) => "0a".repeat(digits / 2);

test.each([
  ["the secrets of the settings", "say the-secret to nobody", "say [redacted] to nobody"],
  ["a runner token", `rnr_${hex(64)}`, "[redacted]"],
  ["a runner token that was cut", `rnr_${hex(12)}`, "[redacted]"],
  ["a signature", `x-agent-signature: ${hex(64)}.`, "x-agent-signature: [redacted]."],
  ["a wallet's signature", `0x${hex(130)}`, "[redacted]"],
  ["a private key by its name", `"privateKey": "0x${hex(64)}"`, `"privateKey": "[redacted]"`],
  ["a nonce by its name", `x-agent-nonce: ${hex(32)}`, "x-agent-nonce: [redacted]"],
])("redacts %s", (_what, text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  ["the hash of a transaction", `0x${hex(64)}`],
  ["an address", `0x${hex(40)}`],
  ["an id", "0190c1d2-7b1e-7c3a-9f00-1234567890ab"],
  ["a longer text of digits", hex(128)],
])("keeps %s", (_what, text) => {
  expect(redact(text)).toBe(text);
});

test("JSON stays JSON, even when a name and its value together are a secret", () => {
  const value = { nonce: hex(32), "the-secret": [1, true, null, { a: "\\the-secret\n" }] };
  expect(JSON.parse(redactJson(value, redact))).toEqual({
    nonce: "[redacted]",
    "[redacted]": [1, true, null, { a: "\\[redacted]\n" }],
  });
});
