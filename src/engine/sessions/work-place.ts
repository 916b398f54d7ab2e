// Where tools work, and what they see nothing of there.

import { isWithin } from "./within.ts";

export interface WorkPlace {
  /** Everything a tool touches lies below it: absolute, as its session named it. */
  readonly workDir: string;
  /** Where it led when it was checked: no tool works in it once it leads elsewhere. */
  readonly realPath: string;
  /** The service's own files and directories, links resolved: no tool shows them. */
  readonly hidden: readonly string[];
  /** Why no tool may work here at all. */
  readonly refusal?: string;
}

/** Why the directory that was opened, which is at `realPath`, is not to be worked in. */
export function findRefusal(place: WorkPlace, realPath: string): string | undefined {
  if (place.refusal !== undefined) {
    return place.refusal;
  }
  return realPath === place.realPath
    ? undefined
    : `work directory ${place.workDir} was moved: it was ${place.realPath} and is ${realPath}`;
}

/** What a path without links is part of, if that is hidden. */
export function findHidden(realPath: string, hidden: readonly string[]): string | undefined {
  return hidden.find((each) => isWithin(realPath, each));
}
