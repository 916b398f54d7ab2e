// The processes of a cell, in acts: the processes of an act start together. The next act begins when all processes of this
// act that should die have died. A frozen process counts as dead until it thaws after the last act.

import type { RunFailpoint } from "../../../src/platform/base/failpoint.ts";
import { type Cell, scenarios } from "./scenarios.ts";

/** A failpoint and the pass at which it kills or freezes, in the form of the environment variable. */
export type Death = `${RunFailpoint}:${number}` | `${RunFailpoint}:${number}:stop`;

/** Undefined for a process that lives. The first process of the first act gets the call that starts the run. */
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
      // It starts before the first one dies. Otherwise it might take over, and die, before any caller could reach it.
      return [[firstDeath, death], [undefined]];
    case "sender":
      return [[death], isAlone ? [undefined] : [undefined, undefined]];
    case "bystander":
      // A bystander needs an owner beside it; the second kind has one more process, which also hears everything.
      return isAlone ? [[undefined, death]] : [[undefined, death, undefined]];
    default:
      return role satisfies never;
  }
}

/** The processes of the first act that have readers from the beginning. Readers of a lone owner find its successor. */
export function homesOf<T>({ failpoint, processes }: Cell, cast: readonly T[]): readonly T[] {
  return scenarios[failpoint].role === "successor" && processes === 1 ? cast.slice(0, 1) : cast;
}
