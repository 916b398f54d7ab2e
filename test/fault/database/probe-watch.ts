// Asks a process all the time whether it lives and whether it is ready, as a load balancer does, and keeps what it heard.

import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { until } from "../../harness/wait.ts";

const intervalMs = 50;

export interface ProbeWatch {
  /** Milliseconds since `fromMs` until readiness was off. */
  notReadySince(fromMs: number, limitMs: number): Promise<number>;
  /** Milliseconds since `fromMs` until readiness was on. */
  readySince(fromMs: number, limitMs: number): Promise<number>;
  /** How long /livez took at worst so far; Infinity when it failed once. */
  readonly livenessMaxMs: number;
}

export function watchProbes(url: string): ProbeWatch {
  const over = new AbortController();
  let isReady = true;
  let changedAtMs = performance.now();
  let livenessMaxMs = 0;

  async function ask(path: string): Promise<boolean> {
    const response = await fetch(`${url}${path}`, { signal: over.signal });
    await response.arrayBuffer();
    return response.ok;
  }

  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      const lives = await ask("/livez").catch(() => false);
      if (over.signal.aborted) {
        return;
      }
      livenessMaxMs = Math.max(livenessMaxMs, lives ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
      const ready = await ask("/readyz").catch(() => false);
      if (ready !== isReady) {
        isReady = ready;
        changedAtMs = performance.now();
      }
      await delay(intervalMs, undefined, { signal: over.signal }).catch(() => {});
    }
  }

  const watching = watch();
  onTestFinished(async () => {
    over.abort();
    await watching;
  });
  const changed = (wanted: boolean) => async (fromMs: number, limitMs: number) => {
    const what = wanted ? "readiness to be on" : "readiness to be off";
    await until(what, () => isReady === wanted, limitMs);
    return Math.max(0, changedAtMs - fromMs);
  };
  return {
    notReadySince: changed(false),
    readySince: changed(true),
    get livenessMaxMs() {
      return livenessMaxMs;
    },
  };
}
