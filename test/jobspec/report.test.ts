// Reports on specs that signers try out: the documented answers, and our additions.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalText } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { canonicalTextV2 } from "../../src/protocols/jobspec/verification/canonical-v2.ts";
import { defaultRegions } from "../../src/protocols/jobspec/verification/job-spec.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { type Report, type ReportRules, reportOn } from "../../src/protocols/jobspec/verification/report.ts";
import { BodyFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { TrustList } from "../../src/protocols/jobspec/verification/trust-list.ts";
import { bodyOf, vectors } from "./cases.ts";
import { addMembers, makeSigner } from "./signer.ts";
import { fullSpec, nowMs, smallSpec } from "./specs.ts";

const signer = makeSigner();
const list = new TrustList([
  { kid: "key-1", publicKey: signer.rawKey, isRevoked: false, notBeforeMs: undefined, notAfterMs: undefined },
]);
const rules: ReportRules = {
  ...{ nowMs, audience: "runnel", enforcesTrust: true, requiresMetadata: true, allowedRegions: defaultRegions },
  judge: (key) => list.judge(key, nowMs),
};

function report(body: string, changes: Partial<ReportRules> = {}, given?: string): Report {
  return reportOn(Buffer.from(body), { ...rules, ...changes }, given === undefined ? undefined : Buffer.from(given));
}

const parse = (text: string) => readDocument(Buffer.from(text)).object;
const pitfallsOf = ({ mistakes }: Report): string[] => mistakes.map(({ pitfall }) => pitfall);

test.each(vectors)("the shared case $name is $verify", (vector) => {
  const { canonical, sha256, len, verify, error } = vector;
  const body = bodyOf(vector);
  if (canonical === null) {
    expect(() => reportOn(body, rules)).toThrow(BodyFault);
    return;
  }
  expect(reportOn(body, rules)).toMatchObject({ verify, canonical, canonicalBytes: len, canonicalSha256: sha256 });
  expect(reportOn(body, rules).fault?.message).toBe(verify === "ok" ? undefined : error);
});

describe("a valid spec", () => {
  const text = signer.signV1(fullSpec);

  test("has a report without faults", () => {
    const canonical = canonicalText(parse(text));
    expect(report(text)).toEqual({
      ...{ verify: "ok", fault: undefined, refusal: undefined, version: 1, canonical },
      ...{ canonicalBytes: Buffer.byteLength(canonical), mistakes: [], warnings: [], given: undefined },
      canonicalSha256: createHash("sha256").update(canonical).digest("hex"),
      ...{ hasExecutionType: true, hasEstimatedCost: false, hasCreatedAt: false },
      trust: { status: "trusted", reason: "active", kid: "key-1" },
    });
  });

  test("stays verified with any signer, time and fields; the gate's refusal is reported separately", () => {
    const stranger = makeSigner();
    expect(report(stranger.signV1(fullSpec))).toMatchObject({
      ...{ verify: "ok", fault: undefined, trust: { status: "unknown" } },
      refusal: { code: "trust_violation:unknown" },
    });
    expect(report(text, { nowMs: nowMs + 1e9 })).toMatchObject({
      verify: "ok",
      refusal: { code: "timestamp_invalid" },
    });
    expect(report(signer.signV1({ ...fullSpec, runs: "x" }))).toMatchObject({
      ...{ verify: "ok", refusal: { code: "validation_error" } },
    });
    expect(report(addMembers(text, { id: "a b" }))).toMatchObject({
      verify: "ok",
      refusal: { code: "validation_error" },
    });
  });

  test("may be of version 2", () => {
    const two = signer.signV2({ ...fullSpec, exp: nowMs / 1000 + 1, aud: "runnel" });
    expect(report(two)).toMatchObject({ verify: "ok", version: 2, canonical: canonicalTextV2(parse(two)) });
    const late = signer.signV2({ ...fullSpec, exp: 1, aud: "runnel" });
    expect(report(late)).toMatchObject({ verify: "ok", refusal: { code: "expired" } });
  });
});

test("members are reported by name, with any value", () => {
  const spec = { ...smallSpec, metadata: { execution_type: null, estimated_cost: 0 }, created_at: null };
  expect(report(JSON.stringify(spec))).toMatchObject({
    ...{ hasExecutionType: true, hasEstimatedCost: true, hasCreatedAt: true },
  });
  const elsewhere = { ...smallSpec, metadata: { created_at: "x" }, execution_type: "x", estimated_cost: 1 };
  expect(report(JSON.stringify(elsewhere))).toMatchObject({
    ...{ hasExecutionType: false, hasEstimatedCost: false, hasCreatedAt: false },
  });
});

test.each([
  [smallSpec, "missing_field:signature", 1],
  [{ ...smallSpec, signature: "AA==" }, "missing_field:public_key", 1],
  [{ ...smallSpec, signature: "*", public_key: "*" }, "invalid_encoding:signature", 1],
  [{ ...smallSpec, sig_v: 2 }, "missing_field:signature", 2],
  [{ ...smallSpec, sig_v: 3 }, "invalid_field:sig_v", 1],
])("%#: the canonical bytes are reported even without a usable signature", (spec, code, version) => {
  const text = JSON.stringify(spec);
  const canonical = version === 1 ? canonicalText(parse(text)) : canonicalTextV2(parse(text));
  expect(report(text)).toMatchObject({
    ...{ verify: "failed", version, canonical, trust: undefined, mistakes: [] },
    ...{ fault: { code }, refusal: { code } },
  });
});

describe("a wrong signature has its diagnosis", () => {
  test("when it is over the wrapper, which may be sent unchanged", () => {
    const wrapper = { jobspec: smallSpec, target_regions: ["US"] };
    const signature = signer.signBytes(canonicalText(parse(JSON.stringify(wrapper))));
    const key = { public_key: Buffer.from(signer.rawKey).toString("base64"), signature };
    const told = report(JSON.stringify({ ...wrapper, jobspec: { ...smallSpec, ...key } }));
    expect(told).toMatchObject({ verify: "failed", fault: { code: "signature_mismatch" } });
    expect(pitfallsOf(told)).toEqual(["wrapper_signed"]);
    expect(told.warnings).toMatchObject([{ what: "wrapper_sent", path: "/jobspec" }]);
    expect(told.canonical).toBe(canonicalText(parse(JSON.stringify(smallSpec))));
  });

  test("when it is over the other version's form", () => {
    const two = JSON.parse(signer.signV2({ ...smallSpec, nothing: null, exp: nowMs / 1000 + 1, aud: "runnel" }));
    const one = { ...two, signature: signer.signBytes(canonicalText(parse(JSON.stringify(two)))) };
    expect(pitfallsOf(report(JSON.stringify(one)))).toEqual(["version_1_signed"]);
    const { sig_v: _, signature: __, ...plain } = two;
    const signature = signer.signBytes(canonicalTextV2(parse(JSON.stringify(plain))));
    expect(pitfallsOf(report(JSON.stringify({ ...plain, signature })))).toEqual(["version_2_signed"]);
  });

  test("when it omits empty texts, and a warning when that is accepted", () => {
    const { signature, public_key } = JSON.parse(signer.signV1(smallSpec));
    const text = JSON.stringify({ ...smallSpec, note: "", public_key, signature });
    expect(pitfallsOf(report(text))).toEqual(["empty_strings_dropped"]);
    for (const later of [nowMs, nowMs + 1e9]) {
      const accepted = report(text, { acceptDroppedEmptyStrings: true, nowMs: later });
      expect(accepted).toMatchObject({ verify: "ok", warnings: [{ what: "empty_strings_dropped" }] });
      expect(accepted.canonical).not.toContain("note");
    }
  });

  test("except when it is over an unknown text", () => {
    const altered = addMembers(signer.signV1(smallSpec), { runs: 2 });
    expect(report(altered)).toMatchObject({ verify: "failed", mistakes: [], fault: { code: "signature_mismatch" } });
  });
});

test("values that change in parsing give a warning", () => {
  const text = signer.signV1(`${JSON.stringify(smallSpec).slice(0, -1)},"a":1,"a":9007199254740993,"b":"\\ud800"}`);
  expect(report(text)).toMatchObject({
    verify: "ok",
    warnings: [
      { what: "inexact_integer", path: "/a" },
      { what: "duplicate_key", path: "/a", sentence: "/a has a name that occurs twice" },
      { what: "lone_surrogate", path: "/b" },
    ],
  });
});

test("a warning about a long name is short", () => {
  const name = "\u{1f600}".repeat(10_000);
  const [warning] = report(`{"${name}":1,"${name}":2}`).warnings;
  expect(warning?.sentence.length).toBeLessThan(300);
  expect(warning?.path.isWellFormed()).toBe(true);
});

describe("bytes that the signer claims to have signed", () => {
  const text = signer.signV1(smallSpec);
  const { canonical } = report(text);

  test("are compared with the canonical bytes and with the signature", () => {
    expect(report(text, {}, canonical).given).toEqual({ difference: undefined, isSigned: true });
    expect(report(text, {}, `${canonical}\n`).given).toMatchObject({
      difference: { at: Buffer.byteLength(canonical), given: expect.stringMatching(/\n$/) },
      isSigned: false,
    });
  });

  test("distinguish a wrong form from a wrong key", () => {
    const pretty = JSON.stringify(smallSpec, null, 3);
    const key = { public_key: Buffer.from(signer.rawKey).toString("base64"), signature: signer.signBytes(pretty) };
    expect(report(JSON.stringify({ ...smallSpec, ...key }), {}, pretty)).toMatchObject({
      ...{ verify: "failed", mistakes: [], given: { isSigned: true, difference: { at: 1 } } },
    });
    expect(report(JSON.stringify(smallSpec), {}, pretty).given).toMatchObject({ isSigned: undefined });
  });
});
