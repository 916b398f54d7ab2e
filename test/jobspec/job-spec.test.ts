// The fields of a spec: their values, defaults, and the error for each invalid one.

import { describe, expect, test } from "vitest";
import { signablePart } from "../../src/protocols/jobspec/verification/canonical-v1.ts";
import { itemsMax } from "../../src/protocols/jobspec/verification/fields.ts";
import { type JobSpec, readClientJobId, readJobSpec } from "../../src/protocols/jobspec/verification/job-spec.ts";
import { type JsonObject, readDocument } from "../../src/protocols/jobspec/verification/json.ts";
import { SpecFault } from "../../src/protocols/jobspec/verification/spec-fault.ts";
import { fullSpec, type Path, replace, smallSpec } from "./specs.ts";

function parse(value: unknown): JsonObject {
  return readDocument(Buffer.from(JSON.stringify(value))).object;
}

function read(spec: unknown, regions?: readonly string[]): JobSpec {
  return readJobSpec(signablePart(parse(spec)), regions);
}

function faultOf(spec: unknown, regions?: readonly string[]): string {
  try {
    read(spec, regions);
    return "none";
  } catch (error) {
    if (error instanceof SpecFault && error.code === "validation_error") {
      return error.message;
    }
    throw error;
  }
}

const print = (path: Path): string =>
  path
    .map((name) => (typeof name === "number" ? `[${name}]` : `.${name}`))
    .join("")
    .slice(1);

describe("a spec with every field", () => {
  test("is read completely", () => {
    expect(read(fullSpec)).toEqual({
      version: "v1",
      benchmark: {
        ...fullSpec.benchmark,
        container: {
          ...fullSpec.benchmark.container,
          environment: new Map(Object.entries(fullSpec.benchmark.container.environment)),
        },
        input: { ...fullSpec.benchmark.input, data: parse(fullSpec.benchmark.input.data) },
        scoring: { method: "similarity", parameters: parse({ threshold: 0.8 }) },
        metadata: parse({ owner: "a" }),
      },
      constraints: {
        ...{ regions: ["US", "EU", "ASIA"], minRegions: 2, minSuccessRate: 0.5, maxCost: 5.5 },
        ...{ timeoutMs: 60_000, providerTimeoutMs: 30_000 },
        providers: [{ region: "EU", minScore: 0.5, maxPrice: 1, whitelist: ["p1"], blacklist: ["p2"] }],
      },
      questions: ["Who are you?"],
      models: [{ id: "m", name: "M", provider: "p", containerImage: "image", regions: ["US"] }],
      runs: 3,
      metadata: parse(fullSpec.metadata),
      walletAuth: parse(fullSpec.wallet_auth),
      jobspecId: "spec-1",
    });
  });

  test("does not change the verified object", () => {
    const signable = signablePart(parse(smallSpec));
    const before = structuredClone(signable);
    readJobSpec(signable);
    expect(signable).toEqual(before);
  });
});

test("missing fields get their defaults", () => {
  expect(read(smallSpec)).toEqual({
    version: "1.0",
    benchmark: {
      ...{ name: "who", version: undefined, description: "Benchmark: who", metadata: new Map() },
      container: {
        ...{ image: "image", tag: undefined, command: [], environment: new Map() },
        resources: { cpu: undefined, memory: undefined, gpu: undefined },
      },
      input: { type: undefined, data: new Map(), hash: "h" },
      scoring: { method: "default", parameters: new Map() },
    },
    constraints: {
      ...{ regions: ["US"], minRegions: undefined, minSuccessRate: undefined, maxCost: undefined, providers: [] },
      ...{ timeoutMs: 600_000, providerTimeoutMs: 300_000 },
    },
    ...{ questions: [], models: [], runs: 1, metadata: parse(smallSpec.metadata) },
    ...{ walletAuth: undefined, jobspecId: undefined },
  });
});

test("zeros, empty texts and nulls count as missing", () => {
  const { benchmark, constraints } = smallSpec;
  const zeros = {
    ...{ ...smallSpec, version: "", jobspec_id: "", runs: 0, models: null, questions: null, wallet_auth: null },
    benchmark: { ...benchmark, version: "", description: "", container: { ...benchmark.container, tag: "" } },
    constraints: { ...constraints, min_regions: 0, min_success_rate: 0, timeout: 0, provider_timeout: -0 },
  };
  expect(read(zeros)).toEqual(read(smallSpec));
  // Version 2 does not prune, so nulls reach this code.
  expect(readJobSpec(parse(zeros))).toEqual(read(smallSpec));
  expect(read({ ...smallSpec, constraints: { ...constraints, min_regions: -3 } })).toEqual(read(smallSpec));
});

test("the version is the spec's own, or else the benchmark's", () => {
  const benchmark = { ...smallSpec.benchmark, version: "v7" };
  expect(read({ ...smallSpec, benchmark }).version).toBe("v7");
  expect(read({ ...smallSpec, benchmark, version: "v8" }).version).toBe("v8");
});

test("a repeated region counts once", () => {
  expect(read({ ...smallSpec, constraints: { regions: ["EU", "US", "EU"] } }).constraints.regions).toEqual([
    "EU",
    "US",
  ]);
});

describe("missing fields are reported with the documented sentences, in this order", () => {
  const steps: readonly (readonly [sentence: string, path: Path, by: unknown])[] = [
    ["benchmark name is required", ["benchmark", "name"], ""],
    ["container image is required", ["benchmark", "container"], undefined],
    ["at least one region constraint is required", ["constraints", "regions"], []],
    ["input hash is required for integrity verification", ["benchmark", "input"], {}],
    ["questions are required for bias-detection v1 jobspec", ["questions"], []],
  ];

  test.each(steps.map((step, index) => [step[0], index] as const))("%s", (sentence, index) => {
    const spec = steps.slice(index).reduce<unknown>((made, [, path, by]) => replace(made, path, by), fullSpec);
    expect(faultOf(spec)).toBe(sentence);
  });

  test("benchmark and constraints may be missing completely", () => {
    expect(faultOf({ version: "v1" })).toBe("benchmark name is required");
    expect(faultOf({ benchmark: smallSpec.benchmark })).toBe("at least one region constraint is required");
  });

  test.each([
    ["v1", "Bias-Check", true],
    ["V1.2", "bias", true],
    ["1.0", "bias", false],
    ["v2", "bias", false],
    ["v1", "who", false],
  ])("version %s of %s requires questions: %s", (version, name, asks) => {
    const spec = { ...smallSpec, version, benchmark: { ...smallSpec.benchmark, name } };
    expect(faultOf(spec)).toBe(asks ? "questions are required for bias-detection v1 jobspec" : "none");
  });
});

describe("a value of the wrong type is reported with its path", () => {
  const samples: readonly unknown[] = ["text", 1.5, true, ["x", 1], { x: 1 }];
  /** Objects with free content. */
  const free = [
    "benchmark.input.data",
    "benchmark.scoring.parameters",
    "benchmark.metadata",
    "metadata",
    "wallet_auth",
  ];

  function* paths(value: unknown, path: Path = []): Generator<{ path: Path; value: unknown }> {
    if (path.length > 0) {
      yield { path, value };
    }
    if (typeof value === "object" && value !== null && !free.includes(print(path))) {
      for (const [name, member] of Object.entries(value)) {
        yield* paths(member, [...path, Array.isArray(value) ? Number(name) : name]);
      }
    }
  }

  const kindOf = (value: unknown): string => (Array.isArray(value) ? "list" : typeof value);
  const { id: _, ...signed } = fullSpec;
  const fields = [...paths(signed)];
  const wrong = fields.flatMap(({ path, value }) =>
    samples.filter((sample) => kindOf(sample) !== kindOf(value)).map((sample) => ({ path, sample })),
  );

  test("in every field", () => {
    expect(fields.length).toBeGreaterThan(50);
    expect(wrong).toHaveLength(fields.length * 4);
    for (const { path, sample } of wrong) {
      const message = faultOf(replace(signed, path, sample));
      expect(message.startsWith(`${print(path)} `), `${print(path)}: ${JSON.stringify(sample)}: ${message}`).toBe(true);
      expect(message).toMatch(/ must be .*, not /);
    }
  });
});

const longName = "x".repeat(256);

test.each([
  [
    ["constraints", "regions", 1],
    "MARS",
    'constraints.regions[1] must be one of US, EU, APAC, CA, SA, AF, ME, ASIA, not "MARS"',
  ],
  [
    ["constraints", "regions", 1],
    "eu",
    'constraints.regions[1] must be one of US, EU, APAC, CA, SA, AF, ME, ASIA, not "eu"',
  ],
  [["models", 0, "regions", 0], "us", /^models\[0\]\.regions\[0\] must be one of/],
  [["models", 0, "id"], undefined, "models[0].id must be text, not nothing"],
  [["constraints", "providers", 0, "region"], undefined, /^constraints\.providers\[0\]\.region must be one of/],
  [
    ["constraints", "timeout"],
    29_999_999_999,
    /^constraints\.timeout .*30 s to 60 min.* must be an integer from 30000000000 to 3600000000000, not 29999999999$/,
  ],
  [["constraints", "timeout"], 3_600_000_000_001, /^constraints\.timeout /],
  [["constraints", "timeout"], -1, /^constraints\.timeout /],
  [["constraints", "timeout"], 60_000_000_000.5, /^constraints\.timeout /],
  [["constraints", "provider_timeout"], 1, /^constraints\.provider_timeout /],
  [["constraints", "timeout"], 30_000_000_000, "none"],
  [["constraints", "timeout"], 3_600_000_000_000, "none"],
  [["constraints", "min_success_rate"], 1.01, "constraints.min_success_rate must be a number from 0 to 1, not 1.01"],
  [["constraints", "min_success_rate"], -0.01, /must be a number from 0 to 1/],
  [["constraints", "min_regions"], 1.5, "constraints.min_regions must be an integer, not 1.5"],
  [["constraints", "max_cost"], -1, "constraints.max_cost must be a number of at least 0, not -1"],
  [["runs"], 1.5, "runs must be an integer from 0 to 1000, not 1.5"],
  [["runs"], 1001, "runs must be an integer from 0 to 1000, not 1001"],
  [["runs"], -1, /^runs must be/],
  [
    ["benchmark", "container", "tag"],
    "a b",
    'benchmark.container.tag must be made of letters, digits, "_", "." and "-"',
  ],
  [["benchmark", "container", "tag"], "v1.0_b-c", "none"],
  [["benchmark", "container", "image"], "registry.example:5000/a/b@sha256:00", "none"],
  [
    ["benchmark", "container", "image"],
    "x".repeat(1025),
    "benchmark.container.image has 1025 characters: maximum 1024",
  ],
  [
    ["benchmark", "container", "environment", "A=B"],
    "x",
    'a name in benchmark.container.environment must be at least one character, without "="',
  ],
  [["benchmark", "container", "environment", ""], "x", /^a name in benchmark\.container\.environment must be/],
  [
    ["benchmark", "container", "environment", "two\nlines"],
    1,
    'benchmark.container.environment["two\\nlines"] must be text, not a number',
  ],
  [
    ["benchmark", "container", "command"],
    Array(itemsMax + 1).fill("x"),
    "benchmark.container.command has 1001 entries: maximum 1000",
  ],
  [["benchmark", "name"], longName, "benchmark.name has 256 characters: maximum 255"],
  [["benchmark", "name"], "a\0b", "benchmark.name must not contain the character U+0000"],
  [["questions", 0], "\0", "questions[0] must not contain the character U+0000"],
  [["jobspec_id"], longName, "jobspec_id has 256 characters: maximum 255"],
  [["benchmark", "input", "hash"], "sha256:placeholder", "none"],
] as [Path, unknown, string | RegExp][])("%j = %j", (path, value, outcome) => {
  expect(faultOf(replace(fullSpec, path, value))).toEqual(
    typeof outcome === "string" ? outcome : expect.stringMatching(outcome),
  );
});

test("the operator decides which regions exist", () => {
  const spec = { ...smallSpec, constraints: { regions: ["MARS"] } };
  expect(faultOf(spec, ["MARS", "MOON"])).toBe("none");
  expect(faultOf(smallSpec, ["MARS", "MOON"])).toBe('constraints.regions[0] must be one of MARS, MOON, not "US"');
});

test("secrets in an environment are not shown", () => {
  const spec = replace(fullSpec, ["benchmark", "container", "environment", "TOKEN"], 12345);
  expect(faultOf(spec)).toBe("benchmark.container.environment.TOKEN must be text, not a number");
});

describe("the sender's job id", () => {
  test.each([
    ["job_1-A", "job_1-A"],
    ["x".repeat(255), "x".repeat(255)],
    ["", undefined],
    [null, undefined],
    [undefined, undefined],
  ])("%j is %j", (id, outcome) => {
    expect(readClientJobId(parse({ id, a: 1 }))).toBe(outcome);
  });

  test.each([longName, "a b", "a/b", "é", "a\n", 5, {}, []])("%j is invalid", (id) => {
    expect(() => readClientJobId(parse({ id }))).toThrow(/^id (?:must be|has 256)/);
  });
});
