// What figures are made of: each is in one registry, is described, and keeps its labels few.

import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Makes the metrics of one registry; their names begin with `runnel_`. */
export interface Figures {
  counter<L extends string>(name: string, help: string, labelNames?: readonly L[]): Counter<L>;
  /** Counted elsewhere, and asked for when somebody looks. */
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

export interface GaugeOptions<L extends string> {
  readonly labelNames?: readonly L[];
  /** Sets the gauge when somebody looks. */
  readonly collect?: (gauge: Gauge<L>) => void | Promise<void>;
}

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
    gauge: (name, help, { labelNames = [], collect } = {}) =>
      new Gauge({
        name: prefix + name,
        help,
        labelNames,
        registers,
        ...(collect && {
          collect() {
            return collect(this);
          },
        }),
      }),
  };
}

/** From a write that meets a quick disk to the minute that a unary call may take. */
export const durationBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60,
];

/** What thinks takes longer: up to an hour. */
export const longDurationBuckets: readonly number[] = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
];

/** Words that we did not choose become labels only while they are few: each of them is kept for ever. */
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
/** All values that have no label of their own. */
export const otherValue = "other";
