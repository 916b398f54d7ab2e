// Follows the log of an exchange's run for changes that others make: that it waits again, or has ended.

import type { RunFailed } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../../platform/base/clock.ts";
import { Interrupt } from "../../platform/base/interrupt.ts";
import { followRun, patienceMs } from "../follow.ts";
import type { ExchangeContext } from "./context.ts";

/** The end of a run. */
export interface RunEnd {
  /** Undefined when the run completed. */
  readonly failure: RunFailed | undefined;
}

/** The news of a run. */
export class RunNews implements AsyncDisposable {
  /** Whether the run began to wait since the last `takeFresh`. */
  #isFresh = false;
  #end: RunEnd | undefined;
  #trouble: { readonly error: unknown } | undefined;
  readonly #closed = new AbortController();
  readonly #wake = new Interrupt();
  readonly #following: Promise<void>;

  constructor(context: ExchangeContext, runId: string) {
    this.#following = this.#follow(context, runId);
  }

  /** Returns the end of the run, or undefined before it. Throws when the service was away for too long. */
  get end(): RunEnd | undefined {
    if (this.#trouble !== undefined) {
      throw this.#trouble.error;
    }
    return this.#end;
  }

  /** Returns true once for each time that the run began to wait. */
  takeFresh(): boolean {
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    return isFresh;
  }

  /** Waits for news, or until `delayMs` have passed. */
  async wait(delayMs: number, signal: AbortSignal): Promise<void> {
    await this.#wake.guard(systemClock.sleep(delayMs, signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#following;
  }

  async #follow({ service, signal, onAway }: ExchangeContext, runId: string): Promise<void> {
    try {
      for await (const { payload } of followRun(service.runs, {
        runId,
        after: 0n,
        patienceMs,
        signal: AbortSignal.any([signal, this.#closed.signal]),
        onReconnect: (_after, why) => onAway(why),
      })) {
        if (payload.case === "runWaiting") {
          this.#isFresh = true;
          this.#wake.fire();
        } else if (payload.case === "runFailed") {
          this.#end = { failure: payload.value };
        } else if (payload.case === "runCompleted") {
          this.#end = { failure: undefined };
        }
      }
    } catch (error) {
      this.#trouble = { error };
    }
    this.#wake.fire();
  }
}
