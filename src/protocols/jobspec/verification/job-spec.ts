// A JobSpec as the service works with it: a typed copy of the verified object, with defaults for missing members.
// J1  Only the verified object is read. The one value from outside of it is the sender's own name for the job.
// J2  Defaults go into the copy. The signed object never changes.
// J3  First every member that is present must have its type and range. Then the first missing member is reported, in the words
//     and the order of the service that the contract is from.

import {
  choice,
  entries,
  integer,
  list,
  number,
  object,
  optional,
  optionalText,
  orElse,
  type Reader,
  record,
  text,
} from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** A JobSpec with its defaults filled in. */
export interface JobSpec {
  readonly version: string;
  readonly benchmark: Benchmark;
  readonly constraints: Constraints;
  readonly questions: readonly string[];
  readonly models: readonly Model[];
  readonly runs: number;
  readonly metadata: JsonObject;
  readonly walletAuth: JsonObject | undefined;
  readonly jobspecId: string | undefined;
}

/** What a job runs, and with which input. */
export interface Benchmark {
  readonly name: string;
  readonly version: string | undefined;
  readonly description: string;
  readonly container: Container;
  readonly input: { readonly type: string | undefined; readonly data: JsonObject; readonly hash: string };
  readonly scoring: { readonly method: string; readonly parameters: JsonObject };
  readonly metadata: JsonObject;
}

/** The container of a benchmark. It is checked and kept, but not run here. */
export interface Container {
  readonly image: string;
  readonly tag: string | undefined;
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly resources: {
    readonly cpu: string | undefined;
    readonly memory: string | undefined;
    readonly gpu: string | undefined;
  };
}

/** Where, how long and with which success a job runs. */
export interface Constraints {
  /** Without duplicates. */
  readonly regions: readonly string[];
  /** Undefined when the signed spec leaves it open: see plan.ts. */
  readonly minRegions: number | undefined;
  readonly minSuccessRate: number | undefined;
  readonly timeoutMs: number;
  readonly providerTimeoutMs: number;
  readonly maxCost: number | undefined;
  readonly providers: readonly ProviderRule[];
}

/** A rule for the providers of one region. */
export interface ProviderRule {
  readonly region: string;
  readonly minScore: number | undefined;
  readonly maxPrice: number | undefined;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
}

/** A model that the job asks; an empty list of regions means all of them. */
export interface Model {
  readonly id: string;
  readonly name: string | undefined;
  readonly provider: string | undefined;
  readonly containerImage: string | undefined;
  readonly regions: readonly string[];
}

/** The regions that specs may name by default. */
export const defaultRegions: readonly string[] = ["US", "EU", "APAC", "CA", "SA", "AF", "ME", "ASIA"];

/** Reads a spec from `signable`, the part that the signature covers. Throws a `SpecFault`. */
export function readJobSpec(signable: JsonObject, allowedRegions: readonly string[] = defaultRegions): JobSpec {
  const sent = specReader(allowedRegions)(signable, "");
  for (const [isMet, sentence] of requirements) {
    if (!isMet(sent)) {
      throw new SpecFault("validation_error", sentence);
    }
  }
  const { name, description, scoring } = sent.benchmark;
  return {
    ...sent,
    version: versionOf(sent),
    benchmark: {
      ...sent.benchmark,
      description: description ?? `Benchmark: ${name}`,
      scoring: { ...scoring, method: scoring.method ?? "default" },
    },
    constraints: fillConstraints(sent.constraints),
    runs: sent.runs || 1,
  };
}

/**
 * Reads the sender's own name for the job; undefined when it is missing. Version 1 does not sign it, so nothing depends on it.
 * Throws a `SpecFault`.
 */
export function readClientJobId(spec: JsonObject): string | undefined {
  return clientJobId(spec.get("id"), "id");
}

/** The maximum number of characters of a name. */
const nameMax = 255;
const name = text({ max: nameMax });
const optionalName = optionalText({ max: nameMax });
const imageMax = 1_024;

const clientJobId = optionalText({
  max: nameMax,
  pattern: /^[a-zA-Z0-9_-]+$/,
  hint: 'made of letters, digits, "_" and "-"',
});

const tag = optionalText({
  max: nameMax,
  pattern: /^[a-zA-Z0-9_.-]+$/,
  hint: 'made of letters, digits, "_", "." and "-"',
});

const variableName = text({ max: nameMax, pattern: /^[^=]+$/, hint: 'at least one character, without "="' });

const container = record({
  image: orElse(optionalText({ max: imageMax }), ""),
  tag,
  command: list(text()),
  environment: entries(text(), variableName),
  resources: record({ cpu: optionalName, memory: optionalName, gpu: optionalName }),
});

const benchmark = record({
  name: orElse(optionalName, ""),
  version: optionalName,
  description: optionalText(),
  container,
  input: record({ type: optionalName, data: object, hash: orElse(optionalName, "") }),
  scoring: record({ method: optionalName, parameters: object }),
  metadata: object,
});

const nsPerMs = 1_000_000;
const timeoutMsMin = 30_000;
const timeoutMsMax = 3_600_000;
const timeoutMsDefault = 600_000;
const providerTimeoutMsDefault = 300_000;

/** Reads nanoseconds and returns milliseconds. Zero counts as missing. */
const timeout: Reader<number | undefined> = (value, path) => {
  const limits = { min: timeoutMsMin * nsPerMs, max: timeoutMsMax * nsPerMs };
  const ns = value === 0 ? undefined : optional(integer(limits))(value, `${path} (in nanoseconds, 30 s to 60 min)`);
  return ns === undefined ? undefined : Math.round(ns / nsPerMs);
};

/** Reads a rate. Zero counts as missing, because the signed bytes of version 1 leave it out too. */
const rate: Reader<number | undefined> = (value, path) =>
  optional(number({ min: 0, max: 1 }))(value, path) || undefined;

const anyInteger = optional(integer({ min: Number.MIN_SAFE_INTEGER }));

/** Reads a count. Less than one counts as missing, as in the Portal's own service. */
const minRegions: Reader<number | undefined> = (value, path) => {
  const count = anyInteger(value, path);
  return count === undefined || count < 1 ? undefined : count;
};

const amount = optional(number({ min: 0 }));

function constraintsReader(region: Reader<string>) {
  return record({
    regions: list(region),
    minRegions,
    minSuccessRate: rate,
    timeout,
    providerTimeout: timeout,
    maxCost: amount,
    providers: list(
      record({ region, minScore: amount, maxPrice: amount, whitelist: list(name), blacklist: list(name) }),
    ),
  });
}

const runsMax = 1_000;

function specReader(allowedRegions: readonly string[]) {
  const region = choice(allowedRegions);
  return record({
    version: optionalName,
    benchmark,
    constraints: constraintsReader(region),
    questions: list(text()),
    models: list(
      record({
        id: name,
        name: optionalName,
        provider: optionalName,
        containerImage: optionalText({ max: imageMax }),
        regions: list(region),
      }),
    ),
    runs: orElse(optional(integer({ min: 0, max: runsMax })), 0),
    metadata: object,
    walletAuth: optional(object),
    jobspecId: optionalName,
  });
}

type Sent = ReturnType<ReturnType<typeof specReader>>;

const requirements: readonly (readonly [isMet: (sent: Sent) => boolean, sentence: string])[] = [
  [({ benchmark }) => benchmark.name !== "", "benchmark name is required"],
  [({ benchmark }) => benchmark.container.image !== "", "container image is required"],
  [({ constraints }) => constraints.regions.length > 0, "at least one region constraint is required"],
  [({ benchmark }) => benchmark.input.hash !== "", "input hash is required for integrity verification"],
  [(sent) => !asksQuestions(sent) || sent.questions.length > 0, "questions are required for bias-detection v1 jobspec"],
];

function asksQuestions(sent: Sent): boolean {
  return /^v1/i.test(versionOf(sent)) && /bias/i.test(sent.benchmark.name);
}

function versionOf({ version, benchmark }: Sent): string {
  return version ?? benchmark.version ?? "1.0";
}

function fillConstraints(sent: Sent["constraints"]): Constraints {
  const { timeout, providerTimeout, regions, ...rest } = sent;
  return {
    ...rest,
    regions: [...new Set(regions)],
    timeoutMs: timeout ?? timeoutMsDefault,
    providerTimeoutMs: providerTimeout ?? providerTimeoutMsDefault,
  };
}
