// The gate: the shared cases, the order of its checks, trust, and the verified spec.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalText } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { type GatePolicy, inspect, type Verified } from "../../src/protocols/jobspec/verification/gate.ts";
import { readJobSpec } from "../../src/protocols/jobspec/verification/job-spec.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { planJob } from "../../src/protocols/jobspec/verification/plan.ts";
import { bodyBytesMax, readBody, readRequest } from "../../src/protocols/jobspec/verification/request.ts";
import { SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { parseTrustList, TrustList } from "../../src/protocols/jobspec/verification/trust-list.ts";
import { bodyOf, trust, vectors } from "./cases.ts";
import { addMembers, makeSigner } from "./signer.ts";
import { fullSpec, nowMs, smallSpec } from "./specs.ts";

const signer = makeSigner();
const trusted = new TrustList([
  { kid: "key-1", publicKey: signer.rawKey, isRevoked: false, notBeforeMs: undefined, notAfterMs: undefined },
]);
const nobody = new TrustList([]);

const policy: GatePolicy = {
  nowMs,
  audience: "runnel",
  enforcesTrust: true,
  requiresMetadata: true,
  judge: (key) => trusted.judge(key, nowMs),
};

function verify(text: string, changes: Partial<GatePolicy> = {}): Verified {
  const inspection = inspect(readDocument(Buffer.from(text)), { ...policy, ...changes });
  if (inspection.fault !== undefined) {
    throw inspection.fault;
  }
  return inspection;
}

function codeOf(text: string, changes: Partial<GatePolicy> = {}): string {
  return inspect(readDocument(Buffer.from(text)), { ...policy, ...changes }).fault?.code ?? "none";
}

describe("the shared cases through the gate", () => {
  const trustNowMs = Date.parse(trust.now);
  const list = new TrustList(parseTrustList(JSON.stringify(trust.trusted_keys_json)));
  const lenient = { ...policy, nowMs: trustNowMs, enforcesTrust: false, requiresMetadata: false };
  const of = (body: Uint8Array, changes: Partial<GatePolicy> = {}) =>
    inspect(readBody(body), { ...lenient, judge: (key) => list.judge(key, trustNowMs), ...changes });

  test("are complete", () => {
    expect(vectors).toHaveLength(75);
  });

  test.each(vectors)("$name is $verify", (vector) => {
    const body = bodyOf(vector);
    if (vector.canonical === null) {
      expect(() => of(body)).toThrow(SpecFault);
      return;
    }
    expect(canonicalText(readDocument(body).object)).toBe(vector.canonical);
    const inspection = of(body);
    if (vector.verify === "failed") {
      expect(inspection.fault?.message).toBe(vector.error);
      return;
    }
    expect(inspection).toMatchObject({ version: 1, canonical: vector.canonical, droppedEmptyStrings: false });
    const { canonical, trust } = inspection as Verified;
    expect(createHash("sha256").update(canonical).digest("hex")).toBe(vector.sha256);
    const { trust_status: status = "trusted", trust_reason: reason = "active" } = vector;
    expect(trust).toMatchObject({ status, reason });
    expect(of(body, { enforcesTrust: true }).fault?.message).toBe(
      status === "trusted" ? undefined : `untrusted signing key: ${reason}`,
    );
  });
});

describe("the order of checks", () => {
  interface Draft {
    readonly spec: Record<string, unknown>;
    readonly wrapper: Record<string, unknown>;
    isTrusted: boolean;
    isAltered: boolean;
    hasSignature: boolean;
    end: string;
  }

  /** In the order of the checks. */
  const faults: readonly (readonly [code: string, words: string, spoil: (draft: Draft) => void])[] = [
    ["invalid_body", "bytes", (draft) => Object.assign(draft, { end: draft.end + " ".repeat(bodyBytesMax) })],
    ["invalid_json", "after the value", (draft) => Object.assign(draft, { end: `}${draft.end}` })],
    ["validation_error", "min_regions", (draft) => Object.assign(draft.wrapper, { min_regions: "2" })],
    ["missing_field:signature", "is required", (draft) => Object.assign(draft, { hasSignature: false })],
    [
      "trust_violation:unknown",
      "untrusted signing key: no match",
      (draft) => Object.assign(draft, { isTrusted: false }),
    ],
    ["signature_mismatch", "signature verification failed", (draft) => Object.assign(draft, { isAltered: true })],
    ["timestamp_invalid", "10 minutes", (draft) => stamp(draft, { timestamp: "2026-01-31T10:00:00Z" })],
    ["invalid_field:nonce", "metadata.nonce", (draft) => stamp(draft, { nonce: 5 })],
    ["expired", "exp", (draft) => Object.assign(draft.spec, { exp: nowMs / 1000 })],
    ["wrong_audience", "aud", (draft) => Object.assign(draft.spec, { aud: "another" })],
    ["validation_error", "runs", (draft) => Object.assign(draft.spec, { runs: "3" })],
    ["validation_error", "target_regions", (draft) => Object.assign(draft.wrapper, { target_regions: ["APAC"] })],
  ];

  function stamp({ spec }: Draft, members: object): void {
    spec.metadata = { ...(spec.metadata as object), ...members };
  }

  function send(spoils: readonly ((draft: Draft) => void)[]): SpecFault | undefined {
    const draft: Draft = {
      spec: { ...fullSpec, exp: nowMs / 1000 + 60, aud: ["runnel"] },
      wrapper: {},
      ...{ isTrusted: true, isAltered: false, hasSignature: true, end: "" },
    };
    for (const spoil of spoils) {
      spoil(draft);
    }
    const signed = JSON.parse(signer.signV2(draft.spec));
    if (draft.isAltered) {
      signed.signature = signer.signBytes("something else");
    }
    if (!draft.hasSignature) {
      delete signed.signature;
    }
    return pass(JSON.stringify({ jobspec: signed, ...draft.wrapper }) + draft.end, draft.isTrusted ? trusted : nobody);
  }

  function pass(body: string, list: TrustList): SpecFault | undefined {
    try {
      const { document, wishes } = readRequest(Buffer.from(body));
      const inspection = inspect(document, { ...policy, judge: (key) => list.judge(key, nowMs) });
      if (inspection.fault !== undefined) {
        return inspection.fault;
      }
      planJob(readJobSpec(inspection.signable), wishes);
      return undefined;
    } catch (error) {
      return error instanceof SpecFault ? error : expect.unreachable(String(error));
    }
  }

  test("the spec below has no fault", () => {
    expect(send([])).toBeUndefined();
  });

  test.each(faults)("%s is reported as: %s", (code, words, spoil) => {
    expect(send([spoil])).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  const pairs = faults.flatMap((first, index) => faults.slice(index + 1).map((second) => ({ first, second })));

  test.each(pairs)("$first.0 ($first.1) precedes $second.0 ($second.1)", ({ first, second }) => {
    const [code, words, spoil] = first;
    for (const spoils of [
      [spoil, second[2]],
      [second[2], spoil],
    ]) {
      expect(send(spoils)).toMatchObject({ code, message: expect.stringContaining(words) });
    }
  });

  test("a missing signature precedes a missing key, and both precede a weak or invalid key", () => {
    expect(codeOf("{}")).toBe("missing_field:signature");
    expect(codeOf('{"signature":"AA=="}')).toBe("missing_field:public_key");
    expect(codeOf('{"signature":"*","public_key":"*"}')).toBe("invalid_encoding:signature");
    const zero = Buffer.alloc(32).toString("base64");
    expect(codeOf(`{"signature":"AA==","public_key":"${zero}"}`, { judge: (key) => nobody.judge(key, nowMs) })).toBe(
      "weak_public_key",
    );
  });
});

describe("trust", () => {
  const text = signer.signV1(fullSpec);

  test.each([
    ["revoked", "explicitly revoked", { isRevoked: true }],
    ["not_yet_valid", "before not_before", { notBeforeMs: nowMs + 1 }],
    ["expired", "after not_after", { notAfterMs: nowMs - 1 }],
  ])("a key that is %s is refused: %s", (status, reason, changes) => {
    const key = { kid: "a", publicKey: signer.rawKey, isRevoked: false, notBeforeMs: undefined, notAfterMs: undefined };
    const list = new TrustList([{ ...key, ...changes }]);
    const inspection = inspect(readDocument(Buffer.from(text)), { ...policy, judge: (raw) => list.judge(raw, nowMs) });
    expect(inspection.fault).toMatchObject({
      code: `trust_violation:${status}`,
      message: `untrusted signing key: ${reason}`,
    });
  });

  test("a verdict is reported even when it is not enforced", () => {
    const judge = (key: Uint8Array) => nobody.judge(key, nowMs);
    expect(verify(text, { judge, enforcesTrust: false }).trust.status).toBe("unknown");
    expect(verify(text).trust).toEqual({ status: "trusted", reason: "active", kid: "key-1" });
  });
});

describe("the verified spec", () => {
  test("is the signed part, without unsigned members", () => {
    const text = addMembers(signer.signV1(smallSpec), {
      models: null,
      questions: {},
      created_at: "2020",
      wallet_auth: {},
    });
    const { signable, nonce, timestampMs, version } = verify(text);
    expect([...signable.keys()].sort()).toEqual(["benchmark", "constraints", "metadata"]);
    expect({ nonce, timestampMs, version }).toEqual({ nonce: "n-1", timestampMs: nowMs, version: 1 });
  });

  test("is the only place where timestamp and nonce are read", () => {
    const { metadata: _, ...unstamped } = smallSpec;
    const text = signer.signV1(unstamped);
    expect(codeOf(addMembers(text, { metadata: { timestamp: null } }))).toBe("missing_field:metadata");
    const emptied = addMembers(text, { metadata: { timestamp: "", nonce: "" } });
    const changes = { acceptDroppedEmptyStrings: true };
    expect(codeOf(emptied, changes)).toBe("missing_field:metadata");
    expect(codeOf(emptied, { ...changes, requiresMetadata: false })).toBe("none");
  });

  test("of version 2 is the whole object except the signature", () => {
    const spec = { ...smallSpec, exp: nowMs / 1000 + 1, aud: "runnel", nothing: null };
    const { signable, version, kid } = verify(signer.signV2(spec));
    expect([...signable.keys()]).toEqual(["sig_v", "alg", "kid", "public_key", ...Object.keys(spec)]);
    expect([version, signable.get("kid")]).toEqual([2, kid]);
  });
});

describe("a signature that omits empty texts", () => {
  const { benchmark } = smallSpec;
  const sent = { ...smallSpec, benchmark: { ...benchmark, description: "" }, note: { text: "" } };
  const { signature, public_key } = JSON.parse(signer.signV1(smallSpec));
  const text = JSON.stringify({ ...sent, public_key, signature });

  test("is wrong unless the operator accepts it; then it is reported, and the texts are ignored", () => {
    expect(codeOf(text)).toBe("signature_mismatch");
    const { droppedEmptyStrings, signable, canonical } = verify(text, { acceptDroppedEmptyStrings: true });
    expect(droppedEmptyStrings).toBe(true);
    expect(canonical).toBe(verify(signer.signV1(smallSpec)).canonical);
    expect(signable.has("note")).toBe(false);
  });

  test("is the only additional form that the setting accepts", () => {
    expect(codeOf(addMembers(text, { extra: "x" }), { acceptDroppedEmptyStrings: true })).toBe("signature_mismatch");
    expect(verify(signer.signV1(sent), { acceptDroppedEmptyStrings: true }).droppedEmptyStrings).toBe(false);
    const two = { ...smallSpec, exp: nowMs / 1000 + 1, aud: "runnel" };
    const altered = addMembers(signer.signV2(two), { note: "" });
    expect(codeOf(altered, { acceptDroppedEmptyStrings: true })).toBe("signature_mismatch");
  });
});

test("a signature of one version is not valid for the other", () => {
  const two = { ...smallSpec, exp: nowMs / 1000 + 1, aud: "runnel" };
  const asTwo = JSON.parse(signer.signV2(two));
  expect(codeOf(JSON.stringify({ ...asTwo, sig_v: 1 }))).toBe("signature_mismatch");
  const { sig_v: _, ...withoutVersion } = asTwo;
  expect(codeOf(JSON.stringify(withoutVersion))).toBe("signature_mismatch");
  const { alg, kid, sig_v } = asTwo;
  const asOne = JSON.parse(signer.signV1({ ...two, alg, kid, sig_v }));
  expect(codeOf(JSON.stringify(asOne))).toBe("signature_mismatch");
});

describe("the claims of version 2", () => {
  const good = { ...smallSpec, exp: nowMs / 1000 + 1, aud: "runnel" };

  test.each([
    ["missing_field:exp", { exp: undefined }],
    ["missing_field:exp", { exp: null }],
    ...[-1, 1.5, "1800000000", "2027-01-01T00:00:00Z", true, [1], {}, 1e300].map((exp) => [
      "invalid_field:exp",
      { exp },
    ]),
    ["expired", { exp: 0 }],
    ["expired", { exp: nowMs / 1000 }],
    ["missing_field:aud", { aud: undefined }],
    ...["", 1, [], [1], ["runnel", ""], {}, ["runnel", null], Array(17).fill("runnel")].map((aud) => [
      "invalid_field:aud",
      { aud },
    ]),
    ["wrong_audience", { aud: "Runnel" }],
    ["wrong_audience", { aud: ["a", "b"] }],
    ["none", { aud: ["a", "runnel"] }],
    ["none", {}],
  ] as [string, object][])("%s: %j", (code, changes) => {
    expect(codeOf(signer.signV2({ ...good, ...changes }))).toBe(code);
  });

  test("are ignored in version 1", () => {
    expect(codeOf(signer.signV1({ ...smallSpec, exp: 0, aud: "another" }))).toBe("none");
  });

  test("include the timestamp and the nonce", () => {
    expect(codeOf(signer.signV2({ ...good, metadata: undefined }))).toBe("missing_field:metadata");
  });
});
