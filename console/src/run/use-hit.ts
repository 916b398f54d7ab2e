// Leads from the search of runs to the first entry of a run that has the word which was found.

import { useEffect } from "react";
import type { RunLog } from "./run-log.ts";
import { useEntrySearch } from "./use-entry-search.ts";

/** Calls `onHit` with the sequence of that entry once the log has it. An empty word leads nowhere. */
export function useHit(log: RunLog, word: string, onHit: (sequence: number) => void): void {
  const [hit] = useEntrySearch(log, word).found;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a hit leads there once.
  useEffect(() => {
    if (hit !== undefined) {
      onHit(hit);
    }
  }, [hit]);
}
