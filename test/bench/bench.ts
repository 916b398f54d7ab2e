// What a bench is: a name, variants that are measured side by side, and a word on what they leave out.

import type { Child } from "./child.ts";
import type { Home } from "./home.ts";
import type { Service } from "./service.ts";

export interface Bench {
  /** Selects the bench with `--only`. */
  readonly name: string;
  readonly title: string;
  /** What a reader might take the figures for, and they are not. */
  readonly notMeasured: string;
  readonly run: (stage: Stage) => Promise<readonly Variant[]>;
}

/** One column of a bench's table. Units stand in the names of the metrics; NaN means that it could not be told here. */
export interface Variant {
  readonly name: string;
  readonly metrics: Readonly<Record<string, number>>;
  /** What went wrong: any word here fails the whole bench. */
  readonly faults: readonly string[];
}

/** What benches are run on. */
export interface Stage {
  readonly quick: boolean;
  readonly home: Home;
  readonly provider: Child;
  /** A service process of its own, so that no variant lives on the warm code or the memory of another. */
  startService(name: string): Promise<Service>;
}
