// Figures that somebody else keeps and that are read when Prometheus asks. Until its source is attached a figure has no
// value.

export interface PoolFigures {
  readonly name: string;
  /** Most connections that it opens. */
  readonly size: number;
  readonly inUse: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export interface FigureSources {
  countActiveRuns(): number;
  /** Results that became durable by this process, by type. */
  countAppended(): Iterable<readonly [type: string, count: number]>;
  readPools(): readonly PoolFigures[];
  /** Whether wake-ups of other replicas are heard. */
  isListening(): boolean;
  /** How long the run that waits longest has had no owner; 0 when none waits. Asks the database. */
  oldestUnleasedMs(): Promise<number>;
}
