// The shared cases of the signing contract: canonical bytes, and whether the signature is valid.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { JsonTextError } from "../../src/platform/base/json/text.ts";
import { canonicalText } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { isSignatureRight, readSignedSpec } from "../../src/protocols/jobspec/verification/signature.ts";
import { SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { bodyOf, vectors } from "./cases.ts";

test("the vectors contain all cases", () => {
  expect(vectors.length).toBeGreaterThan(70);
  expect(new Set(vectors.map(({ group }) => group))).toEqual(new Set(["canonical", "canonical-error", "verify"]));
});

describe.each(vectors.filter(({ canonical }) => canonical !== null))("$name: $why", (vector) => {
  const { canonical, sha256, len, verify, error } = vector;

  test("has these canonical bytes", () => {
    const text = canonicalText(readDocument(bodyOf(vector)).object);
    expect(text).toBe(canonical);
    expect(createHash("sha256").update(text).digest("hex")).toBe(sha256);
    expect(Buffer.byteLength(text)).toBe(len);
  });

  test(`is ${verify}`, () => {
    expect(outcomeOf(bodyOf(vector))).toBe(verify === "ok" ? "ok" : error);
  });
});

test.each(vectors.filter(({ canonical }) => canonical === null))("$name is refused: $why", (vector) => {
  expect(() => readDocument(bodyOf(vector))).toThrow(JsonTextError);
});

function outcomeOf(body: Uint8Array): string {
  try {
    return isSignatureRight(readSignedSpec(readDocument(body))) ? "ok" : "signature verification failed";
  } catch (error) {
    if (error instanceof SpecFault) {
      return error.message;
    }
    throw error;
  }
}
