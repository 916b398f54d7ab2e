// Stops a run that a driver works on, with a reason.

/** `lost`: another replica owns the run · `handed-on`: this replica drains. */
export type StopReason = "cancelled" | "timed-out" | "lost" | "handed-on";

/** The stop signal of one run. */
export class Stop {
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  #reason: StopReason | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts when this replica no longer owns the run, possibly after another stop. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /**
   * Requests a stop. The first reason counts, except that `lost` replaces any other: another replica then decides about the
   * run.
   */
  request(reason: StopReason): void {
    if (this.#reason === undefined || reason === "lost") {
      this.#reason = reason;
    }
    this.#controller.abort();
    if (reason === "lost") {
      this.#lost.abort();
    }
  }
}
