// Several worker processes that share the ports of one service. Each is a replica like one on another machine; this process, the
// primary, only starts them, passes signals on, and sums their metrics.
//
// W1  The primary uses neither the database nor a connection of a client, so nothing is lost with it.
// W2  The first worker starts alone: a service that cannot start says so once.
// W3  A worker that ends unasked is replaced, later each time if it ends soon.
// W4  A worker whose primary has died hands on its runs and ends.

import cluster, { type Worker } from "node:cluster";
import { availableParallelism } from "node:os";
import { type Clock, systemClock } from "../platform/base/clock.ts";
import { sendToPrimary } from "../platform/base/worker-process.ts";
import type { Config } from "../platform/config/keys.ts";
import type { Events } from "../platform/telemetry/events.ts";
import type { Address } from "./open-ports.ts";

/** More processes need more connections than a new Postgres accepts. */
const defaultProcessesMax = 4;
/** Postgres needs a core too: two processes on two cores did 111 runs/s, and one did 135. */
const otherCores = 1;
/** A worker that served for this long did not fail at its start. */
const settledMs = 60_000;
const restartMsMax = 30_000;

/** Returns the number of processes of `serve`. */
export function processesOf({ serverProcesses }: Config): number {
  return serverProcesses ?? Math.max(1, Math.min(availableParallelism() - otherCores, defaultProcessesMax));
}

/** A message from a worker: it serves. */
interface Serving {
  readonly runnelServes: Address;
}

/** Reports to the primary that this worker serves. */
export function announceToPrimary({ host, port, h2Port }: Address): void {
  sendToPrimary({ runnelServes: { host, port, h2Port } } satisfies Serving);
}

/** Options of the workers. */
export interface WorkersOptions {
  readonly count: number;
  readonly events: Pick<Events, "workerStarted" | "workerEnded">;
  readonly clock?: Clock;
}

/** The worker processes of this primary. */
export class Workers {
  readonly #count: number;
  readonly #events: WorkersOptions["events"];
  readonly #clock: Clock;
  readonly #live = new Map<Worker, PromiseWithResolvers<number>>();
  readonly #stopping = new AbortController();
  #quickEnds = 0;

  constructor({ count, events, clock = systemClock }: WorkersOptions) {
    this.#count = count;
    this.#events = events;
    this.#clock = clock;
  }

  /** Starts the workers. Resolves with their address when the first one serves, or with the exit code of one that failed. */
  async open(): Promise<Address | number> {
    const first = this.#fork();
    const address = await Promise.race([first.serving, first.ended]);
    if (typeof address === "number") {
      return address;
    }
    this.#keep(first);
    for (let index = 1; index < this.#count && !this.#stopping.signal.aborted; index++) {
      this.#keep(this.#fork());
    }
    return address;
  }

  /** Passes a signal on. Kills the remaining workers after the time. Resolves with the highest exit code when all have ended. */
  async close(signal: NodeJS.Signals, killAfterMs: number): Promise<number> {
    this.#stopping.abort();
    for (const worker of this.#live.keys()) {
      worker.process.kill(signal);
    }
    const over = new AbortController();
    const overdue = this.#clock.sleep(killAfterMs, over.signal).then(() => {
      for (const worker of this.#live.keys()) {
        worker.process.kill("SIGKILL");
      }
    });
    const codes = await Promise.all(Array.from(this.#live.values(), ({ promise }) => promise));
    over.abort();
    await overdue;
    return Math.max(0, ...codes);
  }

  #fork(): StartedWorker {
    const worker = cluster.fork();
    const ended = Promise.withResolvers<number>();
    const serving = Promise.withResolvers<Address>();
    this.#live.set(worker, ended);
    const pid = worker.process.pid ?? 0;
    this.#events.workerStarted({ pid });
    worker.on("message", (message: Partial<Serving>) => message.runnelServes && serving.resolve(message.runnelServes));
    const end = (code: number | null, signal: string | null): void => {
      this.#live.delete(worker);
      started.how = { code, signal };
      // A worker that was asked to stop before it listened for signals ends by the signal.
      ended.resolve(code ?? (this.#stopping.signal.aborted && signal !== "SIGKILL" ? 0 : failed));
    };
    worker.once("exit", end);
    // It could not be started: the machine has no memory or no process left. Later errors are those of a message to it.
    worker.on("error", () => worker.process.pid === undefined && end(failed, null));
    const started: StartedWorker = {
      pid,
      sinceMs: this.#clock.monotonicMs(),
      serving: serving.promise,
      ended: ended.promise,
      how: { code: null, signal: null },
    };
    return started;
  }

  /** Replaces the worker when it ends. */
  #keep(worker: StartedWorker): void {
    void worker.ended.then(async () => {
      const { signal } = this.#stopping;
      if (signal.aborted) {
        return;
      }
      const isSettled = this.#clock.monotonicMs() - worker.sinceMs >= settledMs;
      this.#quickEnds = isSettled ? 0 : this.#quickEnds + 1;
      const restartInMs = this.#quickEnds < 2 ? 0 : Math.min(restartMsMax, 1_000 * 2 ** (this.#quickEnds - 2));
      this.#events.workerEnded({ pid: worker.pid, ...worker.how, restartInMs });
      await this.#clock.sleep(restartInMs, signal);
      if (!signal.aborted) {
        this.#keep(this.#fork());
      }
    });
  }
}

interface StartedWorker {
  readonly pid: number;
  readonly sinceMs: number;
  readonly serving: Promise<Address>;
  /** The exit code. */
  readonly ended: Promise<number>;
  how: { code: number | null; signal: string | null };
}

const failed = 1;
