// Where a job runs and when it has succeeded: what is signed, narrowed by what the wrapper asks for, which nobody signed.
// L1  A job runs in regions of the signed spec alone. A wrapper may choose among them.
// L2  What the spec says of success holds as signed: over all of its regions, also when a wrapper leaves some of them out. So leaving
//     regions out makes it harder to succeed, never easier.
// L3  Only what the spec leaves open (absent or zero) may the wrapper say; what neither says is filled in.
// L4  A job that could not succeed wherever it runs is refused.
// L5  So is one that asks more questions in a region than anybody would wait for.

import { invalid } from "./fields.ts";
import type { JobSpec } from "./job-spec.ts";
import type { Wishes } from "./request.ts";
import { SpecFault } from "./spec-fault.ts";

export interface JobPlan {
  readonly regions: readonly string[];
  readonly minRegions: number;
  readonly minSuccessRate: number;
  /** In so many of the regions a run has to succeed for the job to: both of the above together. */
  readonly successesMin: number;
  readonly enableAnalysis: boolean;
}

const rateDefault = 0.67;
const wrapperRegionsDefault = 3;

/** Far more than fit into the hour that a run may take. */
const questionsMax = 1_000;

/** Throws a `SpecFault`. */
export function planJob({ constraints, models, questions, runs }: JobSpec, wishes: Wishes | undefined): JobPlan {
  const asked = Math.max(1, models.length) * Math.max(1, questions.length) * runs;
  if (asked > questionsMax) {
    const sum = "models, times questions, times runs";
    throw new SpecFault("validation_error", `${sum}, is ${asked} questions in a region: ${questionsMax} are the most`);
  }
  const regions = chooseRegions(constraints.regions, wishes?.targetRegions);
  const minRegions = constraints.minRegions ?? askedRegions(wishes, regions.length);
  const minSuccessRate = constraints.minSuccessRate ?? (wishes?.minSuccessRate || rateDefault);
  const counted = constraints.minSuccessRate === undefined ? regions : constraints.regions;
  const successesMin = Math.max(minRegions, fewest(minSuccessRate, counted.length));
  if (successesMin > regions.length) {
    throw new SpecFault(
      "validation_error",
      `the job has to succeed in ${successesMin} regions but runs in ${regions.join(", ")} alone: name more, or sign for less`,
    );
  }
  return { regions, minRegions, minSuccessRate, successesMin, enableAnalysis: wishes?.enableAnalysis ?? false };
}

function chooseRegions(signed: readonly string[], asked: readonly string[] | undefined): readonly string[] {
  if (asked === undefined) {
    return signed;
  }
  if (asked.length === 0) {
    throw invalid("target_regions", "must name a region, or be left out to run in all of constraints.regions");
  }
  const index = asked.findIndex((region) => !signed.includes(region));
  if (index >= 0) {
    throw invalid(`target_regions[${index}]`, `must be among the signed constraints.regions: ${signed.join(", ")}`);
  }
  return signed.filter((region) => asked.includes(region));
}

function askedRegions(wishes: Wishes | undefined, count: number): number {
  if (wishes === undefined) {
    return 1;
  }
  const { minRegions } = wishes;
  if (minRegions !== undefined && minRegions > count) {
    throw invalid("min_regions", `must be at most ${count}, as many as the job runs in`);
  }
  return minRegions ?? Math.min(wrapperRegionsDefault, count);
}

/** The fewest of `count` that are at least that part of it, counted: multiplying would round. */
function fewest(rate: number, count: number): number {
  let number = 0;
  while (number < count && number / count < rate) {
    number += 1;
  }
  return number;
}
