// Starts the cycles that are due. Every replica polls. The agent's row decides whether a cycle is due, under its lock and by
// the database's clock. So an agent has one cycle in an interval, however many replicas poll, and misses none when a replica
// dies.

import type { StartDeps } from "../../../engine/runs/start.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Loop } from "../../../platform/base/loop.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { listDueAgents } from "../storage/decision-cycle.ts";
import { startCycle } from "./start.ts";

/** Bounds of the poll interval, which is a tenth of the cycle interval: a cycle begins at most this late. */
const pollMsMin = 100;
const pollMsMax = 2_000;

/** Dependencies and settings of the schedule. */
export interface ScheduleOptions {
  readonly start: StartDeps;
  readonly clock: Clock;
  readonly events: Pick<Events, "cycleNotStarted" | "databaseTroubled">;
  readonly agentIds: readonly string[];
  /** From the beginning of a cycle to the beginning of the next one. */
  readonly intervalMs: number;
}

/** Polls for due cycles until it is closed. */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #loop: Loop;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: Math.min(pollMsMax, Math.max(pollMsMin, options.intervalMs / 10)),
      pass: () => this.#startDue(),
      onError: (error) => options.events.databaseTroubled({ part: "cycles", error }),
    });
  }

  open(): void {
    this.#loop.open();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #startDue(): Promise<void> {
    const { start, agentIds, intervalMs } = this.#options;
    for (const agentId of await listDueAgents(start.db, { agentIds, intervalMs })) {
      if (this.#loop.closing.aborted) {
        return;
      }
      await this.#start(agentId);
    }
  }

  /** Starts one cycle. A cycle that cannot start now, as when too many runs are active, does not delay other agents. */
  async #start(agentId: string): Promise<void> {
    const { start, intervalMs, events } = this.#options;
    try {
      await startCycle(start, { agentId, intervalMs, traceParent: undefined });
    } catch (error) {
      events.cycleNotStarted({ agentId, error });
    }
  }
}
