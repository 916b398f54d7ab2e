// The service's own files and directories, which no tool shows, wherever a session's work directory is.

import { isWithin } from "./within.ts";

export interface HiddenPlace {
  /** A file or directory, links resolved. */
  readonly path: string;
  /** A directory in it that is not hidden. */
  readonly except?: string;
}

/** The place that a path without links is part of, if any. */
export function findHiddenPlace(realPath: string, hidden: readonly HiddenPlace[]): string | undefined {
  const isPartOf = ({ path, except }: HiddenPlace): boolean =>
    isWithin(realPath, path) && !(except !== undefined && isWithin(realPath, except));
  return hidden.find(isPartOf)?.path;
}
