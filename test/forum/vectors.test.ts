// Signing, tested with the shared cases and with properties of every body.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SignedBody, stableStringify } from "../../src/protocols/community/forum/signing/body.ts";
import {
  deriveKey,
  isSignature,
  payloadV1,
  payloadV2,
  type SignedParts,
  signPayload,
} from "../../src/protocols/community/forum/signing/signature.ts";
import { anyJson } from "../harness/json-value.ts";

interface Vector extends SignedParts {
  readonly name: string;
  readonly body: unknown;
  readonly body_text: string;
  readonly stable: string;
  readonly runnerToken: string;
  readonly runnerTokenHash: string;
  readonly bodyHash: string;
  readonly payload: string;
  readonly signature: string;
}

const { vectors, http_cases } = JSON.parse(
  readFileSync(new URL("../vectors/sns-signing.json", import.meta.url), "utf8"),
) as { vectors: readonly Vector[]; http_cases: { example: Vector } };

test("the vectors contain cases", () => {
  expect(vectors.length).toBeGreaterThan(10);
});

describe.each(vectors)("$name", (vector) => {
  test("has the hashes, payload and signature of the contract", () => {
    const body = SignedBody.read(Buffer.from(vector.body_text));
    expect(body.stableText).toBe(vector.stable);
    expect(body.hash).toBe(vector.bodyHash);
    const payload = payloadV1(vector, body.hash);
    expect(payload).toBe(vector.payload);
    expect(signPayload(vector.runnerToken, payload)).toBe(vector.signature);
    expect(isSignature(vector.signature, vector.runnerToken, payload)).toBe(true);
    expect(createHash("sha256").update(vector.runnerToken).digest("hex")).toBe(vector.runnerTokenHash);
  });

  test("has the same stable text when the signer starts from the value", () => {
    expect(stableStringify(vector.body)).toBe(vector.stable);
  });
});

test("the example of the refusals has a valid signature", () => {
  const { example } = http_cases;
  const payload = payloadV1(example, SignedBody.of(JSON.stringify(example.body)).hash);
  expect(isSignature(example.signature, example.runnerToken, payload)).toBe(true);
});

test("the payload is nonce, time, hash and agent in that order, separated by dots", () => {
  expect(payloadV1({ nonce: "n", timestamp: "t", agentId: "a" }, "h")).toBe("n.t.h.a");
});

test("a signer's value is hashed in the form that the receiver gets", () => {
  expect(stableStringify({ a: undefined, b: 1 })).toBe('{"b":1}');
  expect(stableStringify({ d: new Date(0) })).toBe('{"d":"1970-01-01T00:00:00.000Z"}');
  expect(stableStringify([undefined])).toBe("[null]");
  expect(() => stableStringify({ n: 1n })).toThrow(TypeError);
});

test("names are in the order of their code units, even if they look like numbers", () => {
  expect(stableStringify({ 9: 1, 10: 2, 2: 3 })).toBe('{"10":2,"2":3,"9":1}');
});

test("repeated names, odd numbers and unpaired surrogates have a stable form", () => {
  expect(SignedBody.of('{"a":1,"b":2,"a":3}').stableText).toBe('{"a":3,"b":2}');
  expect(SignedBody.of("[1e999,-1e999,-0,1.50,1E2]").stableText).toBe("[null,null,0,1.5,100]");
  expect(SignedBody.of('"\\uD800\\ud83d\\ude00"').stableText).toBe('"\\ud800😀"');
  expect(SignedBody.read(Buffer.from([0xef, 0xbb, 0xbf, 0x22, 0xff, 0x22])).stableText).toBe('"\ufffd"');
});

test("names with escapes stay distinct, although the language's own parser mixes them up", () => {
  const text = '{"\\\\":1,"\\n":2,"\\u005c\\u005c":3}';
  expect(SignedBody.of(text).stableText).toBe('{"\\n":2,"\\\\":1,"\\\\\\\\":3}');
});

test("the stable text is JSON with the same value, and a fixed point", () => {
  fc.assert(
    fc.property(anyJson({ maxDepth: 4 }), (value) => {
      const stable = stableStringify(value);
      expect(JSON.parse(stable)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(SignedBody.of(stable).stableText).toBe(stable);
    }),
  );
});

test("a signature of any length and characters is compared without an error", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (given) => {
      expect(isSignature(given, "rnr_t", "payload")).toBe(false);
    }),
  );
  const right = signPayload("rnr_t", "payload");
  expect(isSignature(right.toUpperCase(), "rnr_t", "payload")).toBe(false);
  expect(isSignature(`${right} `, "rnr_t", "payload")).toBe(false);
});

test("version 2 binds every part of the request", () => {
  const parts = { nonce: "n", timestamp: "1760000000000", agentId: "a" };
  const request = { method: "POST", target: "/api/threads?x=1", body: Buffer.from("{}") };
  const { id, key } = deriveKey("rnr_t");
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  const signature = signPayload(key, payloadV2(parts, request));
  expect(isSignature(signature, key, payloadV2(parts, request))).toBe(true);
  const others = [
    payloadV2({ ...parts, nonce: "m" }, request),
    payloadV2({ ...parts, timestamp: "1760000000001" }, request),
    payloadV2({ ...parts, agentId: "b" }, request),
    payloadV2(parts, { ...request, method: "PATCH" }),
    payloadV2(parts, { ...request, target: "/api/threads" }),
    payloadV2(parts, { ...request, body: Buffer.from("{ }") }),
  ];
  expect(others.filter((payload) => isSignature(signature, key, payload))).toEqual([]);
  expect(isSignature(signature, "rnr_t", payloadV2(parts, request))).toBe(false);
  expect(deriveKey("rnr_u").key.equals(key)).toBe(false);
});
