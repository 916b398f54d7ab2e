// Bodies of jobs: bare specs and wrappers, how the spec is extracted, and which wishes a wrapper may have.

import { describe, expect, test } from "vitest";
import { inspect } from "../../src/protocols/jobspec/verification/gate.ts";
import { readJobSpec } from "../../src/protocols/jobspec/verification/job-spec.ts";
import { readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { type JobPlan, planJob } from "../../src/protocols/jobspec/verification/plan.ts";
import { bodyBytesMax, readRequest } from "../../src/protocols/jobspec/verification/request.ts";
import { BodyFault, SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { faultOf as anyFaultOf } from "../harness/fault-of.ts";
import { makeSigner } from "./signer.ts";
import { nowMs, smallSpec } from "./specs.ts";

const signer = makeSigner();
const read = (body: string | Uint8Array) => readRequest(Buffer.from(body));

const faultOf = (act: () => unknown): SpecFault => anyFaultOf(act, SpecFault);

describe("a body", () => {
  test.each([
    ["", "invalid_body"],
    [" ", "invalid_json"],
    ["{", "invalid_json"],
    ["[]", "invalid_json"],
    ["null", "invalid_json"],
    ["\ufeff{}", "invalid_json"],
    ['{"a":1e400}', "invalid_json"],
    [Buffer.from([0x7b, 0xff, 0x7d]), "invalid_json"],
    [`{"a":${"[".repeat(512)}${"]".repeat(512)}}`, "invalid_json"],
    [" ".repeat(bodyBytesMax + 1), "invalid_body"],
    ['{"jobspec":5}', "validation_error"],
    ['{"jobspec":[{}],"target_regions":["US"]}', "validation_error"],
    ['{"jobspec":null}', "validation_error"],
  ])("%# is refused before the spec is read", (body, code) => {
    const fault = faultOf(() => read(body));
    expect(fault).toBeInstanceOf(BodyFault);
    expect(fault.code).toBe(code);
    expect(fault.message).toMatch(/[a-z]/);
  });

  test("may have the maximum number of bytes and levels", () => {
    const text = '{"a":"x"}';
    expect(read(text.padEnd(bodyBytesMax)).document.object.size).toBe(1);
    expect(read(`{"a":${"[".repeat(511)}${"]".repeat(511)}}`).document.object.size).toBe(1);
  });

  test("that is not UTF-8 gets an error that says so", () => {
    expect(faultOf(() => read(Buffer.from([0x7b, 0xff, 0x7d]))).message).toBe("body is not UTF-8");
  });
});

describe("a wrapper", () => {
  const wrap = (members: object): string => JSON.stringify({ jobspec: smallSpec, ...members });

  test("gives its inner object byte for byte", () => {
    const inner = '{ "b":1.0,\t"b" : 2e0, "\\u0061":"é\\ud83d\\ude00<" }';
    const { document, wishes } = read(`{"x":[{"jobspec":{}}], "jobspec":  ${inner} , "y":"}"}`);
    expect(document.text).toBe(inner);
    expect(document.object).toEqual(readDocument(Buffer.from(inner)).object);
    expect(document.remarks).toEqual([{ what: "duplicate_key", path: "/b" }]);
    expect(wishes).toEqual({
      ...{ targetRegions: undefined, minRegions: undefined },
      ...{ minSuccessRate: undefined, enableAnalysis: undefined },
    });
  });

  test("with several jobspec members is judged by the last one", () => {
    const [good, other] = [signer.signV1(smallSpec), JSON.stringify({ ...smallSpec, runs: 9 })];
    expect(read(`{"jobspec":${other},"jobspec":${good}}`).document.text).toBe(good);
    expect(read(`{"jobspec":${good},"jobsp\\u0065c":${other}}`).document.text).toBe(other);
    expect(read(`{"jobspec":${other},"jobspec":5,"signature":"s"}`).wishes).toBeUndefined();
  });

  test("has its spec verified like a bare one", () => {
    const rules = { nowMs, audience: "a", enforcesTrust: false, requiresMetadata: true };
    const judge = () => ({ status: "unknown", reason: "", kid: undefined }) as const;
    const spec = signer.signV1(smallSpec);
    const [alone, wrapped] = [spec, `{"min_regions":1,"jobspec":${spec}}`].map((body) =>
      inspect(read(body).document, { ...rules, judge }),
    );
    expect(alone).toMatchObject({ version: 1, nonce: "n-1" });
    expect(wrapped).toEqual(alone);
  });

  test("may hold any other members", () => {
    expect(read(wrap({ signature: 5, other: { a: [] }, id: {} })).wishes).toBeDefined();
  });

  test.each([
    [{ target_regions: "US" }, "target_regions must be a list, not text"],
    [{ target_regions: [1] }, "target_regions[0] must be text, not a number"],
    [{ target_regions: {} }, "target_regions must be a list, not an object"],
    [{ min_regions: 0 }, "min_regions must be an integer of at least 1, not 0"],
    [{ min_regions: 1.5 }, "min_regions must be an integer of at least 1, not 1.5"],
    [{ min_regions: "3" }, 'min_regions must be an integer of at least 1, not "3"'],
    [{ min_success_rate: 1.1 }, "min_success_rate must be a number from 0 to 1, not 1.1"],
    [{ min_success_rate: -1 }, "min_success_rate must be a number from 0 to 1, not -1"],
    [{ min_success_rate: true }, "min_success_rate must be a number from 0 to 1, not true"],
    [{ enable_analysis: "yes" }, 'enable_analysis must be true or false, not "yes"'],
  ])("%j is refused", (members, message) => {
    const fault = faultOf(() => read(wrap(members)));
    expect(fault).toBeInstanceOf(BodyFault);
    expect(fault).toMatchObject({ code: "validation_error", message });
  });

  test("with null members has no wishes", () => {
    const nulls = { target_regions: null, min_regions: null, min_success_rate: null, enable_analysis: null };
    expect(read(wrap(nulls)).wishes).toEqual(read(wrap({})).wishes);
  });
});

describe("a plan", () => {
  interface Signed {
    readonly regions: readonly string[];
    readonly min_regions?: number;
    readonly min_success_rate?: number;
  }

  function plan(constraints: Signed, wrapper?: object): JobPlan {
    const spec = { ...smallSpec, constraints };
    const body = wrapper === undefined ? spec : { jobspec: spec, ...wrapper };
    const { document, wishes } = read(JSON.stringify(body));
    return planJob(readJobSpec(document.object), wishes);
  }

  const three = ["US", "EU", "ASIA"];

  test("of a bare spec has the signed values, or defaults", () => {
    const defaults = { minRegions: 1, minSuccessRate: 0.67, enableAnalysis: false };
    expect(plan({ regions: ["US"] })).toEqual({ ...defaults, regions: ["US"], successesMin: 1 });
    // Two of three are less than 0.67.
    expect(plan({ regions: three })).toMatchObject({ ...defaults, regions: three, successesMin: 3 });
    expect(plan({ regions: three, min_regions: 2, min_success_rate: 0.1 })).toMatchObject({
      ...{ minRegions: 2, minSuccessRate: 0.1, successesMin: 2 },
    });
  });

  test("with too many questions in a region is refused", () => {
    const asking = (runs: number) => {
      const constraints = { regions: ["US"] };
      const models = ["a", "b"].map((id) => ({ id }));
      const { document } = read(
        JSON.stringify({ ...smallSpec, constraints, models, questions: Array(10).fill("?"), runs }),
      );
      return planJob(readJobSpec(document.object), undefined);
    };
    expect(asking(50).regions).toEqual(["US"]);
    expect(() => asking(51)).toThrow("models times questions times runs is 1020 questions in a region: maximum 1000");
  });

  test("of a wrapper without wishes requires three regions, or as many as exist", () => {
    expect(plan({ regions: three }, {})).toMatchObject({ minRegions: 3, minSuccessRate: 0.67 });
    expect(plan({ regions: ["US", "EU"] }, {})).toMatchObject({ minRegions: 2, successesMin: 2 });
    expect(plan({ regions: three }, { min_success_rate: 0 })).toMatchObject({ minSuccessRate: 0.67 });
  });

  test("takes values from the wrapper that the spec leaves open", () => {
    const asked = { min_regions: 1, min_success_rate: 0.5, enable_analysis: true };
    expect(plan({ regions: three, min_regions: 0, min_success_rate: 0 }, asked)).toEqual({
      ...{ regions: three, minRegions: 1, minSuccessRate: 0.5, successesMin: 2, enableAnalysis: true },
    });
  });

  test.each([
    { min_regions: 1, min_success_rate: 0.1 },
    { min_regions: 99, min_success_rate: 1 },
  ])("keeps the signed values with any wrapper: %j", (wrapper) => {
    expect(plan({ regions: three, min_regions: 2, min_success_rate: 0.6 }, wrapper)).toMatchObject({
      ...{ minRegions: 2, minSuccessRate: 0.6, successesMin: 2 },
    });
  });

  test("runs only in signed regions that the wrapper chooses", () => {
    expect(plan({ regions: three }, { target_regions: ["ASIA", "US", "US"] }).regions).toEqual(["US", "ASIA"]);
    for (const target_regions of [["APAC"], ["US", "APAC"], ["us"], ["US "]]) {
      expect(faultOf(() => plan({ regions: three }, { target_regions }))).toMatchObject({
        ...{
          code: "validation_error",
          message: expect.stringMatching(/^target_regions\[\d\] must be among the signed/),
        },
      });
    }
    expect(faultOf(() => plan({ regions: three }, { target_regions: [] })).message).toMatch(
      /^target_regions must name/,
    );
  });

  test("keeps its required successes when the wrapper leaves out regions", () => {
    const one = { target_regions: ["US"] };
    expect(faultOf(() => plan({ regions: three, min_regions: 2 }, one)).message).toMatch(
      /^the job must succeed in 2 regions but runs only in US/,
    );
    expect(faultOf(() => plan({ regions: three, min_success_rate: 0.5 }, one)).code).toBe("validation_error");
    // One of one region satisfies what a third of all regions does.
    expect(plan({ regions: three, min_success_rate: 0.33 }, one)).toMatchObject({ successesMin: 1 });
    const two = { target_regions: ["US", "EU"] };
    expect(plan({ regions: three, min_success_rate: 0.6 }, two)).toMatchObject({ successesMin: 2 });
    expect(plan({ regions: three }, { ...two, min_success_rate: 0.5 })).toMatchObject({
      successesMin: 2,
      minRegions: 2,
    });
  });

  test("that could never succeed is refused", () => {
    expect(faultOf(() => plan({ regions: three, min_regions: 4 })).message).toBe(
      "the job must succeed in 4 regions but runs only in US, EU, ASIA: name more, or sign a lower minimum",
    );
    expect(faultOf(() => plan({ regions: three }, { min_regions: 4 })).message).toBe(
      "min_regions must be at most 3, the number of regions of the job",
    );
  });

  test("counts fractions exactly", () => {
    const many = ["US", "EU", "APAC", "CA", "SA", "AF", "ME", "ASIA"];
    for (let count = 1; count <= many.length; count++) {
      for (let part = 1; part <= count; part++) {
        const regions = many.slice(0, count);
        expect(plan({ regions, min_success_rate: part / count }).successesMin).toBe(part);
      }
    }
  });
});
