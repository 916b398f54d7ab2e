// Helpers that create metrics: each metric is in one registry, is described, and has few label values.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Creates the metrics of one registry. Their names start with `runnel_`. */
export interface Figures {
  counter<L extends string>(name: string, help: string, labelNames?: readonly L[]): Counter<L>;
  /** A counter that is kept elsewhere and read on each scrape. */
  counterOf<L extends string>(
    name: string,
    help: string,
    read: () => Iterable<readonly [L, number]>,
    label: string,
  ): Counter;
  histogram<L extends string>(
    name: string,
    help: string,
    options: { readonly buckets: readonly number[]; readonly labelNames?: readonly L[] },
  ): Histogram<L>;
  gauge<L extends string>(name: string, help: string, options?: GaugeOptions<L>): Gauge<L>;
}

/** Options of a gauge. */
export interface GaugeOptions<L extends string> {
  readonly labelNames?: readonly L[];
  /** Sets the gauge on each scrape. */
  readonly collect?: (gauge: Gauge<L>) => void | Promise<void>;
  /** How the values of several worker processes become one; the default is `sum`. */
  readonly aggregator?: "sum" | "first" | "min" | "max";
}

/** Returns the helpers of a registry. */
export function createFigures(registry: Registry): Figures {
  const registers = [registry];
  const prefix = "runnel_";
  return {
    counter: (name, help, labelNames = []) => new Counter({ name: prefix + name, help, labelNames, registers }),
    counterOf: (name, help, read, label) =>
      new Counter({
        name: prefix + name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, count] of read()) {
            this.inc({ [label]: value }, count);
          }
        },
      }),
    histogram: (name, help, { buckets, labelNames = [] }) =>
      new Histogram({ name: prefix + name, help, buckets: [...buckets], labelNames, registers }),
    gauge: (name, help, { labelNames = [], collect, aggregator = "sum" } = {}) =>
      new Gauge({
        name: prefix + name,
        help,
        labelNames,
        registers,
        aggregator,
        ...(collect && {
          collect() {
            return collect(this);
          },
        }),
      }),
  };
}

/** Buckets in seconds: from a write on a fast disk to the minute that a unary call may take. */
export const durationBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60,
];

/** Buckets in seconds for models and runs, which take up to an hour. */
export const longDurationBuckets: readonly number[] = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
];

/**
 * Returns a function that limits a label to `valuesMax` values; others become `other`. For values that we do not choose: a
 * registry keeps each value forever.
 */
export function createLabel(valuesMax: number = foreignValuesMax): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) {
      return value;
    }
    if (known.size >= valuesMax) {
      return otherValue;
    }
    known.add(value);
    return value;
  };
}

const foreignValuesMax = 50;
/** The label value of everything without its own value. */
export const otherValue = "other";
