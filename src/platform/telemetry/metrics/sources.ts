// The sources of values that other components keep and that are read on each scrape. A metric has no value until its source is
// attached.

/** The state of a connection pool. */
export interface PoolFigures {
  readonly name: string;
  /** The maximum number of connections. */
  readonly size: number;
  readonly inUse: number;
  /** Number of callers that wait for a connection. */
  readonly waiting: number;
}

/** A provider and the state of its worst circuit breaker. */
export interface CircuitFigure {
  readonly provider: string;
  readonly state: "closed" | "open" | "half-open";
}

/** The components that provide values. */
export interface FigureSources {
  countActiveRuns(): number;
  /** Returns how many results this process made durable, by type. */
  countAppended(): Iterable<readonly [type: string, count: number]>;
  readPools(): readonly PoolFigures[];
  /** Returns the configured providers. */
  readCircuits(): readonly CircuitFigure[];
  /** Returns true while this replica receives the wake-ups of others. */
  isListening(): boolean;
  /** Returns for how long the longest-waiting run has had no owner; 0 when no run waits. Queries the database. */
  oldestUnleasedMs(): Promise<number>;
}
