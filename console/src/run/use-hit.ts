// Leads from the search of runs to the first entry of a run that has the word which was found.

import { useEffect, useRef } from "react";
import { findEntries } from "./entries-pane.tsx";
import type { RunLog } from "./run-log.ts";

/** Calls `onHit` with the sequence of that entry once the log has it. An empty word leads nowhere. */
export function useHit(log: RunLog, word: string, onHit: (sequence: number) => void): void {
  const searched = useRef(0);
  const { cursor } = log;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new entries are worth a search.
  useEffect(() => {
    const [hit] = word === "" ? [] : findEntries(log.entries.slice(searched.current), word);
    searched.current = cursor;
    if (hit !== undefined) {
      onHit(Number(hit.sequence));
    }
  }, [cursor, word]);
}
