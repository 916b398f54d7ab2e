// Searches a log while a component is shown.

import { useEffect, useMemo } from "react";
import { EntrySearch } from "./entry-search.ts";
import type { RunLog } from "./run-log.ts";

/** Returns a search that goes on as the log grows. */
export function useEntrySearch(log: RunLog, text: string): EntrySearch {
  const search = useMemo(() => new EntrySearch(log.entries, text, log.notify), [log, text]);
  useEffect(() => search.advance());
  useEffect(() => () => search.stop(), [search]);
  return search;
}
