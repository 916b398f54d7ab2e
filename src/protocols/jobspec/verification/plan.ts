// Plans where a job runs and when it has succeeded: the signed spec, narrowed by the wrapper, which is not signed.
// L1  A job runs only in regions of the signed spec. A wrapper may choose among them.
// L2  The signed conditions of success hold as signed: over all regions of the spec, also when a wrapper leaves some out. So
//     leaving regions out makes success harder, never easier.
// L3  A wrapper may set only what the spec leaves open (absent or zero). Defaults fill in the rest.
// L4  A job that cannot succeed is refused.
// L5  A job that asks too many questions in one region is refused.

import { invalid } from "./fields.ts";
import type { JobSpec } from "./job-spec.ts";
import type { Wishes } from "./request.ts";
import { SpecFault } from "./spec-fault.ts";

/** Where a job runs, and when it has succeeded. */
export interface JobPlan {
  readonly regions: readonly string[];
  readonly minRegions: number;
  readonly minSuccessRate: number;
  /** The number of regions in which a run has to succeed. It combines the two members above. */
  readonly successesMin: number;
  readonly enableAnalysis: boolean;
}

const rateDefault = 0.67;
const wrapperRegionsDefault = 3;

/** The maximum number of questions in a region: far more than fit into the hour that a run may take. */
const questionsMax = 1_000;

/** Plans a job; `wishes` come from the wrapper. Throws a `SpecFault`. */
export function planJob({ constraints, models, questions, runs }: JobSpec, wishes: Wishes | undefined): JobPlan {
  const asked = Math.max(1, models.length) * Math.max(1, questions.length) * runs;
  if (asked > questionsMax) {
    const sum = "models times questions times runs";
    throw new SpecFault("validation_error", `${sum} is ${asked} questions in a region: maximum ${questionsMax}`);
  }
  const regions = chooseRegions(constraints.regions, wishes?.targetRegions);
  const minRegions = constraints.minRegions ?? askedRegions(wishes, regions.length);
  const minSuccessRate = constraints.minSuccessRate ?? (wishes?.minSuccessRate || rateDefault);
  const counted = constraints.minSuccessRate === undefined ? regions : constraints.regions;
  const successesMin = Math.max(minRegions, fewest(minSuccessRate, counted.length));
  if (successesMin > regions.length) {
    throw new SpecFault(
      "validation_error",
      `the job must succeed in ${successesMin} regions but runs only in ${regions.join(", ")}: name more, or sign a lower minimum`,
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
    throw invalid("min_regions", `must be at most ${count}, the number of regions of the job`);
  }
  return minRegions ?? Math.min(wrapperRegionsDefault, count);
}

/** Returns the smallest number whose share of `count` reaches `rate`. It counts up, because a multiplication would round. */
function fewest(rate: number, count: number): number {
  let number = 0;
  while (number < count && number / count < rate) {
    number += 1;
  }
  return number;
}
