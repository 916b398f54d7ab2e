// The time for ages and running durations: one timer for the page, which stops while the page is hidden.

import { useEffect, useState } from "react";
import { useStore } from "./store.ts";
import { pageVisible } from "./visible.ts";

/** Returns the time, renewed each second while `isRunning`. */
export function useNow(isRunning = true): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const isVisible = useStore(pageVisible);
  useEffect(() => {
    if (!isRunning || !isVisible) {
      return;
    }
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning, isVisible]);
  return nowMs;
}
