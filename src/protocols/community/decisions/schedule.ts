// Starts the cycles that are due. Every replica looks; whose turn it is and whether it is time is decided by the agent's row, under
// its lock and by the database's clock, so an agent has one cycle in an interval however many look, and misses none because one
// of them dies.

import type { StartDeps } from "../../../engine/runs/start.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Loop } from "../../../platform/base/loop.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { listDueAgents } from "../storage/decision-cycle.ts";
import { startCycle } from "./start.ts";

/** How late a cycle may begin: a tenth of its interval, within these. */
const pollMsMin = 100;
const pollMsMax = 2_000;

export interface ScheduleOptions {
  readonly start: StartDeps;
  readonly clock: Clock;
  readonly events: Pick<Events, "cycleNotStarted" | "databaseTroubled">;
  readonly agentIds: readonly string[];
  /** From the beginning of a cycle to that of the next one. */
  readonly intervalMs: number;
}

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

  /** One that cannot start now, as when too many runs are active, does not keep the others. */
  async #start(agentId: string): Promise<void> {
    const { start, intervalMs, events } = this.#options;
    try {
      await startCycle(start, { agentId, intervalMs, traceParent: undefined });
    } catch (error) {
      events.cycleNotStarted({ agentId, error });
    }
  }
}
