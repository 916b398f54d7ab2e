// Addresses to which a run is pushed: what surfaces and the outbox of callbacks share.

/** An address, with what its receiver expects. */
export interface PushConfig {
  /** The client's name of it, unique in the run. */
  readonly id: string;
  readonly url: string;
  /** A text that the receiver knows; empty for none. */
  readonly token: string;
  /** A scheme of HTTP authentication; empty for none. */
  readonly scheme: string;
  /** Never shown to a client. */
  readonly credentials: string;
}

/** The addresses of runs. The caller has checked that the run is the client's. */
export interface PushConfigs {
  /** Returns the problem of a URL that can be found without resolving its host; otherwise undefined. */
  findProblem(url: string): string | undefined;
  /** Returns the addresses of a run, in the order in which they were added. */
  list(runId: string): Promise<readonly PushConfig[]>;
  /**
   * Adds an address, or replaces the one with its id. `pushesNow` also pushes the run as it is, unless a later change is pushed
   * anyway. Returns false when the run has the maximum number of addresses.
   */
  put(runId: string, config: PushConfig, options: { readonly pushesNow: boolean }): Promise<boolean>;
  /** Removes an address, with the pushes to it that are not delivered. */
  remove(runId: string, id: string): Promise<void>;
}

/** The maximum number of addresses of a run. */
export const pushConfigsMax = 10;

/** Returns the body of a push of a run, and its media type. `client` is the client of the run. */
export type PrintPush = (client: string, runId: string) => Promise<{ readonly body: string; readonly type: string }>;
