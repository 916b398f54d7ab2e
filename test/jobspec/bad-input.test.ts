// Any input gives either a fault with a code and a sentence, or a spec that is exactly the signed one.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalText, print } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { printV2 } from "../../src/protocols/jobspec/verification/canonical-v2.ts";
import { type GatePolicy, inspect, type Verified } from "../../src/protocols/jobspec/verification/gate.ts";
import { defaultRegions, readClientJobId, readJobSpec } from "../../src/protocols/jobspec/verification/job-spec.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { planJob } from "../../src/protocols/jobspec/verification/plan.ts";
import { reportOn } from "../../src/protocols/jobspec/verification/report.ts";
import { bodyBytesMax, readRequest } from "../../src/protocols/jobspec/verification/request.ts";
import { BodyFault, SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { makeSigner } from "./signer.ts";
import { fullSpec, nowMs, type Path, replace, smallSpec } from "./specs.ts";

const signer = makeSigner();
const policy: GatePolicy = {
  ...{ nowMs, audience: "runnel", enforcesTrust: false, requiresMetadata: true },
  judge: () => ({ status: "unknown", reason: "no match in allowlist", kid: undefined }),
};

/** Answers are small; no input may make them large. */
const sentenceMax = 600;

function expectToBeTold(fault: SpecFault): void {
  expect(fault.code).toMatch(/^[a-z_]+(?::[a-z_]+)?$/);
  expect(fault.message.length).toBeGreaterThan(5);
  expect(fault.message.length).toBeLessThan(sentenceMax);
  expect(fault.message.isWellFormed()).toBe(true);
}

/** Processes a body completely; any error except a `SpecFault` is rethrown. */
function send(body: Uint8Array, changes: Partial<GatePolicy> = {}): Verified | SpecFault {
  try {
    const { document, wishes } = readRequest(body);
    const inspection = inspect(document, { ...policy, ...changes });
    if (inspection.fault !== undefined) {
      return inspection.fault;
    }
    readClientJobId(document.object);
    planJob(readJobSpec(inspection.signable), wishes);
    return inspection;
  } catch (error) {
    if (error instanceof SpecFault) {
      return error;
    }
    throw error;
  }
}

function expectFaultOf(body: Uint8Array | string, changes?: Partial<GatePolicy>): SpecFault {
  const outcome = send(Buffer.from(body), changes);
  if (!(outcome instanceof SpecFault)) {
    return expect.unreachable("this was taken");
  }
  expectToBeTold(outcome);
  return outcome;
}

/** A report exists for every JSON object. */
function expectReportOf(body: Uint8Array): void {
  try {
    const { refusal, fault } = reportOn(body, { ...policy, allowedRegions: defaultRegions });
    for (const each of [refusal, fault].filter((one) => one !== undefined)) {
      expectToBeTold(each);
    }
  } catch (error) {
    if (!(error instanceof BodyFault)) {
      throw error;
    }
  }
}

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("__proto__", "constructor", "\0", "\ud800", ""),
);
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { depthSize: "small" },
    fc.oneof(fc.constant(null), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }), anyText),
    fc.array(tie("anything"), { maxLength: 4 }),
    fc.dictionary(anyText, tie("anything"), { maxKeys: 4 }),
  ),
}));

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield* pathsOf(member, [...path, Array.isArray(value) ? Number(name) : name]);
    }
  }
}

const paths = [...pathsOf(fullSpec)].filter((path) => path.length > 0);
/** A spec with one to three parts replaced. */
const mutated = fc
  .array(fc.tuple(fc.constantFrom(...paths), anything), { minLength: 1, maxLength: 3 })
  .map((changes) => changes.reduce<unknown>((spec, [path, by]) => replaceIfThere(spec, path, by), fullSpec) as object);

/** Another change may have removed the parent of this one. */
function replaceIfThere(spec: unknown, path: Path, by: unknown): unknown {
  let at = spec;
  for (const name of path.slice(0, -1)) {
    at = typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined;
  }
  return typeof at === "object" && at !== null ? replace(spec, path, by) : spec;
}

describe("any input", () => {
  test("as bytes gives a fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        expectFaultOf(body);
        expectReportOf(body);
      }),
    );
  });

  test("as JSON, with or without a wrapper, gives a fault", () => {
    fc.assert(
      fc.property(anything, anyText, (value, name) => {
        for (const body of [value, { [name]: value }, { jobspec: value }, { jobspec: { [name]: value } }]) {
          const bytes = Buffer.from(JSON.stringify(body));
          expectFaultOf(bytes);
          expectReportOf(bytes);
        }
      }),
    );
  });

  test("as key and signature gives a fault", () => {
    const text = fc.oneof(
      anything,
      fc.uint8Array({ minLength: 31, maxLength: 65 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      fc.base64String(),
    );
    fc.assert(
      fc.property(text, text, anything, (public_key, signature, sig_v) => {
        for (const version of [{}, { sig_v: 2 }, { sig_v }]) {
          const bytes = Buffer.from(JSON.stringify({ ...fullSpec, public_key, signature, ...version }));
          expectFaultOf(bytes);
          expectReportOf(bytes);
        }
      }),
    );
  });

  test("signed, with anything in any field, gives a fault or exactly the signed spec", () => {
    let taken = 0;
    fc.assert(
      fc.property(mutated, (spec) => {
        for (const text of [signer.signV1(spec), signer.signV2({ exp: nowMs, aud: "runnel", ...spec })]) {
          const body = Buffer.from(text);
          expectReportOf(body);
          const outcome = send(body);
          if (outcome instanceof SpecFault) {
            expectToBeTold(outcome);
            expect(outcome.code).toMatch(
              /^(?:validation_error|invalid_json|missing_field|invalid_field|timestamp_invalid)/,
            );
          } else {
            taken += 1;
            const { canonical, signable, version } = outcome;
            expect(version === 1 ? print(signable) : printV2(signable)).toBe(canonical);
          }
        }
      }),
      { examples: [[fullSpec]] },
    );
    expect(taken).toBeGreaterThan(0);
  });

  test("as a wrapper around a valid spec gives a fault or the job", () => {
    const spec = signer.signV1(fullSpec);
    const names = fc.constantFrom("target_regions", "min_regions", "min_success_rate", "enable_analysis", "other");
    fc.assert(
      fc.property(fc.dictionary(names, anything), (members) => {
        const rest = JSON.stringify(members).slice(1);
        const outcome = send(Buffer.from(`{"jobspec":${spec}${rest === "}" ? "" : ","}${rest}`));
        if (outcome instanceof SpecFault) {
          expectToBeTold(outcome);
          expect(outcome.code).toBe("validation_error");
        }
      }),
    );
  });
});

test("no change of a byte in a signed spec makes the service accept another spec", () => {
  const text = Buffer.from(signer.signV1(fullSpec));
  const { canonical } = send(text) as Verified;
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const changed = Buffer.from(text);
      changed[at] = byte;
      const outcome = send(changed);
      if (outcome instanceof SpecFault) {
        refused += 1;
        expectToBeTold(outcome);
      } else {
        expect(outcome.canonical).toBe(canonical);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(refused).toBeGreaterThan(1_500);
});

test("members outside the signed bytes have no effect", () => {
  const signed = JSON.parse(signer.signV1(smallSpec));
  const before = readJobSpec((send(Buffer.from(JSON.stringify(signed))) as Verified).signable);
  const nothings = fc.constantFrom(null, {}, { a: null }, { a: { b: {} } });
  const names = fc.constantFrom("runs", "questions", "models", "wallet_auth", "version", "jobspec_id", "extra");
  fc.assert(
    fc.property(fc.dictionary(names, nothings), anything, (members, created_at) => {
      const body = { ...signed, ...members, created_at, id: "job-9" };
      const outcome = send(Buffer.from(JSON.stringify(body)));
      expect(outcome).not.toBeInstanceOf(SpecFault);
      expect(readJobSpec((outcome as Verified).signable)).toEqual(before);
    }),
  );
});

test("a spec that is nested too deep is refused, and one at the limit is read", () => {
  const nest = (levels: number) =>
    JSON.stringify(smallSpec).replace(/\}$/, `,"x":${"[".repeat(levels)}${"]".repeat(levels)}}`);
  expect(expectFaultOf(nest(512)).code).toBe("invalid_json");
  expect(expectFaultOf(`{"jobspec":${nest(511)}}`).code).toBe("invalid_json");
  expect(send(Buffer.from(signer.signV1(nest(511))))).not.toBeInstanceOf(SpecFault);
  const objects = `${'{"a":'.repeat(513)}1${"}".repeat(513)}`;
  expect(expectFaultOf(objects)).toMatchObject({
    code: "invalid_json",
    message: expect.stringContaining("512 levels"),
  });
  expect(expectFaultOf("[".repeat(bodyBytesMax)).code).toBe("invalid_json");
  expect(expectFaultOf('{"a":'.repeat(200_000)).code).toBe("invalid_json");
});

test("a body of 1 MiB is read, and one of a byte more is refused", () => {
  const text = signer.signV1({ ...smallSpec, note: "<".repeat(900_000) });
  expect(send(Buffer.from(text.padEnd(bodyBytesMax)))).not.toBeInstanceOf(SpecFault);
  expect(expectFaultOf(text.padEnd(bodyBytesMax + 1)).code).toBe("invalid_body");
  // The limit is in bytes.
  expect(expectFaultOf(`{"a":"${"\u{1f600}".repeat(bodyBytesMax / 4)}"}`).code).toBe("invalid_body");
});

test("of repeated names the last counts in version 1, and version 2 refuses them", () => {
  const once = JSON.stringify({ ...smallSpec, runs: 2 });
  const twice = once
    .replace('"runs":2', '"runs":1,"runs":2,"benchmark":{"name":"another"}')
    .replace(/"benchmark":\{"name":"who".*?"h"\}\}/, '"benchmark":{"name":"first"}');
  const fields = `{${JSON.stringify(smallSpec.benchmark).slice(1)}`;
  const last = `${twice.slice(0, -1)},"benchmark":${fields}}`;
  const outcome = send(Buffer.from(signer.signV1(last))) as Verified;
  expect(readJobSpec(outcome.signable)).toMatchObject({ runs: 2, benchmark: { name: "who" } });
  expect(outcome.canonical).toBe(canonicalText(readDocument(Buffer.from(once)).object));
  const two = signer.signV2({ ...smallSpec, exp: nowMs, aud: "runnel", runs: 2 });
  expect(send(Buffer.from(two))).not.toBeInstanceOf(SpecFault);
  const fault = expectFaultOf(two.replace('"runs":2', '"runs":2,"runs":2'));
  expect(fault).toMatchObject({
    code: "invalid_json",
    message: expect.stringContaining("/runs has a name that occurs twice"),
  });
});

test("errors about long names are short", () => {
  const name = "\u{1f600}\n".repeat(50_000);
  const { benchmark } = smallSpec;
  for (const environment of [{ [name]: "x" }, { ["\u0001".repeat(200)]: 1 }]) {
    const container = { ...benchmark.container, environment };
    expectFaultOf(signer.signV1({ ...smallSpec, benchmark: { ...benchmark, container } }));
  }
  expectFaultOf(signer.signV1({ ...smallSpec, constraints: { regions: [name] } }));
  expectFaultOf(
    signer
      .signV2({ ...smallSpec, exp: nowMs, aud: "runnel", [name]: 2 ** 53, a: 1 })
      .replace(/:9007199254740992/, ":9007199254740993"),
  );
  expectFaultOf(`{"jobspec":${signer.signV1(smallSpec)},"target_regions":${JSON.stringify([name])}}`);
});
