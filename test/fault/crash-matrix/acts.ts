// Who plays in a cell, and when: an act is processes that come together. The next act begins when all of this one have
// died that are to die. One that is frozen is dead to the others, until it thaws after the last act.

import type { RunFailpoint } from "../../../src/platform/base/failpoint.ts";
import { type Cell, scenarios } from "./scenarios.ts";

/** A place and which pass of it kills, or freezes, as the environment says it. */
export type Death = `${RunFailpoint}:${number}` | `${RunFailpoint}:${number}:stop`;

/** Undefined for a process that lives. The first of the first act is asked to start the run. */
export type Act = readonly (Death | undefined)[];

export function actsOf({ failpoint, passes, processes, death: how }: Cell): readonly Act[] {
  const death: Death = how === "frozen" ? `${failpoint}:${passes}:stop` : `${failpoint}:${passes}`;
  const { role, firstDeath } = scenarios[failpoint];
  const isAlone = processes === 1;
  switch (role) {
    case "owner":
    case "leaver":
      return isAlone ? [[death], [undefined]] : [[death, undefined]];
    case "successor":
      // It serves already when the first one dies, or it might take over, and die, before anybody could ask it.
      return [[firstDeath, death], [undefined]];
    case "sender":
      return [[death], isAlone ? [undefined] : [undefined, undefined]];
    case "bystander":
      // It takes two to have one; the second kind has one more, which hears everything as well.
      return isAlone ? [[undefined, death]] : [[undefined, death, undefined]];
    default:
      return role satisfies never;
  }
}

/** Those of the first act that have readers from the beginning. Readers of a lone owner find its successor by themselves. */
export function homesOf<T>({ failpoint, processes }: Cell, cast: readonly T[]): readonly T[] {
  return scenarios[failpoint].role === "successor" && processes === 1 ? cast.slice(0, 1) : cast;
}
