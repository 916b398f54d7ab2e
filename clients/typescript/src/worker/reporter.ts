// Reports the results of one run in order: what comes while a report is on its way goes with the next one. A report that was not
// answered is sent again as it was, so nothing is lost and nothing counts twice.

import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import { ResultDisposition, type ResultVerdict } from "../../../../gen/runnel/runner/v1/runner_service_pb.js";
import type { RunnerWorkerService } from "../../../../gen/runnel/runner/v1/runner_worker_service_pb.js";
import { isTransient } from "../is-transient.ts";
import type { Result } from "./runner.ts";

export interface ReporterOptions {
  readonly work: Client<typeof RunnerWorkerService>;
  /** What each report says of the run. */
  readonly run: { readonly runId: string; readonly attempt: number; readonly runToken: string };
  /** Aborted when the service wants the run to end, or the run is not ours any more. */
  readonly stop: AbortController;
  /** Aborts when the worker reports nothing more; leases end by themselves. */
  readonly leave: AbortSignal;
  readonly onProblem: ((problem: unknown) => void) | undefined;
}

interface Item {
  readonly sequence: bigint;
  readonly type: string;
  readonly data: string;
  readonly usage?: string;
}

/** Below the service's limits of a report. */
const itemsMax = 200;
const charsMax = 1_000_000;
/** What the protocol allows for one result. */
const resultBytesMax = 2 * 1_048_576;
/** Results that may wait before their runner does. */
const waitingMax = 1_000;
/** A service that does not answer for so long is asked again. */
const callMaxMs = 30_000;
/** A third of the lease. */
const renewMs = 10_000;
const retryMinMs = 100;
const retryMaxMs = 2_000;

export class Reporter {
  readonly #options: ReporterOptions;
  readonly #ended = new AbortController();
  /** Aborts when nothing more counts. */
  readonly over: AbortSignal;
  readonly #waiting: Item[] = [];
  #sequence = 0n;
  /** Types and dispositions that `onProblem` was called with. */
  readonly #noted = new Set<string>();
  #finished = false;
  #wake: (() => void) | undefined;
  #room: (() => void) | undefined;
  readonly #working: Promise<void>;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.over = AbortSignal.any([this.#ended.signal, options.leave]);
    this.#working = this.#work();
  }

  /** Resolves when the runner may go on: at once, unless too much is waiting. Throws for what no host takes. */
  async report(result: Result): Promise<void> {
    const item = print(result);
    this.#sequence += 1n;
    this.#waiting.push({ sequence: this.#sequence, ...item });
    this.#wake?.();
    while (this.#waiting.length >= waitingMax && !this.over.aborted) {
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
    }
  }

  /** Resolves when everything is acknowledged, or nothing counts any more. */
  async finish(): Promise<void> {
    this.#finished = true;
    this.#wake?.();
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.over.aborted) {
      const items = this.#takeBatch();
      const finished = this.#finished && this.#waiting.length === 0;
      if (items.length > 0 || finished) {
        await this.#send(items, finished);
      } else {
        await this.#waitForWork();
      }
      this.#room?.();
      if (finished) {
        break;
      }
    }
    this.#room?.();
  }

  #takeBatch(): Item[] {
    let chars = 0;
    let count = 0;
    for (const { data } of this.#waiting) {
      chars += data.length;
      if (count > 0 && (chars > charsMax || count === itemsMax)) {
        break;
      }
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Renews the lease when nothing comes for long. */
  async #waitForWork(): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, this.over]);
    await sleep(renewMs, undefined, { signal }).catch(() => {});
    this.#wake = undefined;
    if (!signal.aborted) {
      await this.#send([], false);
    }
  }

  async #send(results: readonly Item[], finished: boolean): Promise<void> {
    const { work, run, stop, onProblem } = this.#options;
    for (let delayMs = retryMinMs; !this.over.aborted; delayMs = Math.min(delayMs * 2, retryMaxMs)) {
      try {
        const request = { ...run, results: [...results], finished };
        const { verdicts, cancelRequested, ended } = await work.reportResults(request, {
          signal: this.over,
          timeoutMs: callMaxMs,
        });
        this.#note(verdicts);
        if (cancelRequested || ended) {
          stop.abort();
        }
        if (ended) {
          this.#ended.abort();
        }
        return;
      } catch (error) {
        if (!this.over.aborted) {
          onProblem?.(error);
        }
        if (!isTransient(error)) {
          stop.abort();
          this.#ended.abort();
        }
        await sleep(delayMs * (0.5 + Math.random()), undefined, { signal: this.over }).catch(() => {});
      }
    }
  }

  /** Tells the first result of each kind that was dropped, refused or odd. */
  #note(verdicts: readonly ResultVerdict[]): void {
    for (const { sequence, type, disposition, diagnostics } of verdicts) {
      const kind = `${disposition} ${type}`;
      // The host says how a cancelled run ends, which is no news to the operator who cancelled it.
      const isCancelled = type === "run.failed" && this.#options.stop.signal.aborted;
      if (isCancelled || this.#noted.has(kind) || (ordinary.includes(disposition) && diagnostics.length === 0)) {
        continue;
      }
      this.#noted.add(kind);
      const name = (ResultDisposition[disposition] ?? disposition).toString().toLowerCase();
      const reason = diagnostics.join("; ") || "no reason given";
      this.#options.onProblem?.(
        new Error(`run ${this.#options.run.runId}: result ${sequence} (${type}) ${name}: ${reason}`),
      );
    }
  }
}

/** Says nothing by itself: the result counts as it is, or was sent again. */
const ordinary: readonly ResultDisposition[] = [
  ResultDisposition.APPLIED,
  ResultDisposition.TELEMETRY,
  ResultDisposition.DROPPED_DUPLICATE,
];

function print({ type, data, usage }: Result): Omit<Item, "sequence"> {
  const printed = { data: JSON.stringify(data), ...(usage !== undefined && { usage: JSON.stringify(usage) }) };
  if (printed.data === undefined) {
    throw new TypeError(`a result of type ${type} without data: give it an object`);
  }
  const bytes = Buffer.byteLength(printed.data) + (printed.usage?.length ?? 0);
  if (bytes > resultBytesMax) {
    throw new RangeError(`a ${type} of ${bytes} bytes: a result has at most ${resultBytesMax}`);
  }
  return { type, ...printed };
}
