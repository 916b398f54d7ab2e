// The machine that the figures come from: without it the figures mean nothing.

import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

export interface Machine {
  readonly date: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  /** The load of the minute before the first bench. Near 0 on a machine without other work. */
  readonly loadBefore: number;
}

export function describeMachine(postgres: string): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    postgres,
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}
