// What a bench is: a name, variants that are measured side by side in rounds, and a word on what they leave out.

import type { Stage } from "./ground/stage.ts";

export interface Bench {
  /** Selects the bench on the command line. */
  readonly name: string;
  readonly title: string;
  /** What a reader might take the figures for, and they are not. */
  readonly notMeasured: string;
  /** More than one where a ratio is claimed: each round measures everything once, and the medians count. */
  readonly roundsMax: number;
  /** Opens what the bench stands on, warms it up, and measures a round each time it is asked, without end. */
  readonly measure: (stage: Stage) => AsyncGenerator<readonly Variant[], void, void>;
}

/** One column of a bench's table. Units stand in the names of the metrics; NaN means that it could not be told here. */
export interface Variant {
  readonly name: string;
  readonly metrics: Readonly<Record<string, number>>;
  /** What went wrong: any word here fails the whole bench. */
  readonly faults: readonly string[];
}
