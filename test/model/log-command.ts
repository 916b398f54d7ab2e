// Makes a command from an arbitrary choice. After each command all invariants of the logs and their readers are checked.

import type fc from "fast-check";
import { expectLogsToHold, type LogModel } from "./log-model.ts";
import type { LogWorld } from "./log-world.ts";

export type LogCommand = fc.AsyncCommand<LogModel, LogWorld>;

interface Deed<T> {
  readonly isPossible: (model: LogModel, choice: T) => boolean;
  readonly run: (model: LogModel, world: LogWorld, choice: T) => Promise<void>;
}

export function command<T>(name: string, choices: fc.Arbitrary<T>, deed: Deed<T>): fc.Arbitrary<LogCommand> {
  return choices.map((choice) => ({
    check: (model) => deed.isPossible(model, choice),
    run: async (model, world) => {
      await deed.run(model, world, choice);
      await expectLogsToHold(model, world);
    },
    toString: () => `${name} ${JSON.stringify(choice)}`,
  }));
}

/** Picks an item; any index works. */
export function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) {
    throw new Error("there is none to pick");
  }
  return item;
}
