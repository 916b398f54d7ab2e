// Lets others stop a run that a driver works on, and tells why.

/** `lost`: the run belongs to somebody else · `handed-on`: this replica drains. */
export type StopReason = "cancelled" | "timed-out" | "lost" | "handed-on";

export class Stop {
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  #reason: StopReason | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts when the run is no longer ours, which may be after it was told to stop. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** The first reason counts, but nothing outweighs a loss: from then on the run is not ours to decide about. */
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
