// The shape of a bench: a name, variants that are measured side by side in rounds, and a note on what they leave out.

import type { Stage } from "./harness/stage.ts";

export interface Bench {
  /** The name that selects the bench on the command line. */
  readonly name: string;
  readonly title: string;
  /** What a reader could wrongly take the figures for. */
  readonly notMeasured: string;
  /** More than 1 where the bench claims a ratio: each round measures every variant once, and the medians count. */
  readonly roundsMax: number;
  /** Opens what the bench needs, warms it up, and measures one round each time it is asked, without end. */
  readonly measure: (stage: Stage) => AsyncGenerator<readonly Variant[], void, void>;
}

/**
 * One column of a bench's table. The names of the metrics contain their units; NaN means that this machine could not measure
 * it.
 */
export interface Variant {
  readonly name: string;
  readonly metrics: Readonly<Record<string, number>>;
  /** What went wrong: any entry fails the whole bench. */
  readonly faults: readonly string[];
}
