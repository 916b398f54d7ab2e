// Calls with one answer, many at the same time: how many a second, how long each takes, and what they cost.

import type { Variant } from "../bench.ts";
import { type Load, percentile, runLoad } from "../harness/load.ts";
import { type Meter, measure, peakMemoryMb } from "../harness/meter.ts";

export interface CallLoad extends Load {
  readonly name: string;
  /** Resolves with false when the answer was wrong. */
  readonly call: () => Promise<boolean>;
  readonly meter: Meter;
}

export async function measureCalls({ name, call, meter, ...load }: CallLoad): Promise<Variant> {
  const timed = async (): Promise<{ good: boolean; ms: number }> => {
    const startedMs = performance.now();
    return { good: await call(), ms: performance.now() - startedMs };
  };
  const { result: calls, cost } = await measure(meter, () => runLoad(load, timed));
  const msEach = calls.map(({ ms }) => ms);
  const bad = calls.filter(({ good }) => !good).length;
  const usPerCall = (seconds: number): number => (1_000_000 * seconds) / calls.length;
  return {
    name,
    metrics: {
      calls: calls.length,
      "calls/s": calls.length / cost.wall,
      "p50, ms": percentile(msEach, 0.5),
      "p99, ms": percentile(msEach, 0.99),
      "service CPU per call, µs": usPerCall(cost.service),
      "Postgres CPU per call, µs": usPerCall(cost.postgres),
      "client CPU per call, µs": usPerCall(cost.client),
      "service peak RSS, MB": meter.servicePid === undefined ? Number.NaN : peakMemoryMb(meter.servicePid),
    },
    faults: [
      ...(calls.length === 0 ? ["no call was made"] : []),
      ...(bad > 0 ? [`${bad} of ${calls.length} answers were wrong`] : []),
    ],
  };
}

/** Adds to the variant its share of what a bare server does, measured right before or after it. */
export function compareWithBare(variant: Variant, bare: Variant): Variant {
  const ratio = (metric: string): number =>
    (variant.metrics[metric] ?? Number.NaN) / (bare.metrics[metric] ?? Number.NaN);
  return {
    ...variant,
    metrics: {
      ...variant.metrics,
      "calls/s, ratio to bare": ratio("calls/s"),
      "service CPU, ratio to bare": ratio("service CPU per call, µs"),
    },
  };
}
