// Signals that ask a command to end: Ctrl-C, a process manager, a terminal that closes. The first one stops in order. A later
// decision of the operator ends the process at once.

import { type Clock, systemClock } from "../platform/base/clock.ts";
import { stopBeforeForcedEnd } from "../platform/base/forced-end.ts";
import { onPrimaryLost } from "../platform/base/worker-process.ts";
import { exitCodes } from "./exit-codes.ts";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Signals that follow the first one within this time are copies of it. A terminal signals every process of its group, and npm
 * passes the signal on as well: its copy followed within 24 ms on an overloaded machine. A person needs longer than this to see
 * that the program still runs and to decide again.
 */
export const copyMsMax = 1_000;

/** Container engines kill 10 s after the first signal. Postgres ends by itself once it was asked to. */
const forcedEndMsMax = 5_000;

/** A request to stop, made by a signal. */
export interface StopRequest {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Resolves with the first signal. */
  readonly asked: Promise<NodeJS.Signals>;
}

/** Listens from now on: the first signal requests a stop, and a second decision ends the process at once, in any state. */
export function listenForStop(): StopRequest {
  const aborted = new AbortController();
  const { promise: asked, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const judge = createSignalJudge(systemClock);
  const onSignal = (signal: NodeJS.Signals): void => {
    const verdict = judge();
    if (verdict === "first") {
      resolve(signal);
      aborted.abort();
    } else if (verdict === "decision") {
      void endNow();
    }
  };
  for (const signal of stopSignals) {
    process.on(signal, onSignal);
  }
  onPrimaryLost(() => onSignal("SIGINT"));
  return { signal: aborted.signal, asked };
}

/** The kinds of signals. `late` ones follow a decision. */
export type SignalVerdict = "first" | "copy" | "decision" | "late";

/** Creates a judge of signals by their times. After a decision every signal is `late`: the process is ending. */
export function createSignalJudge(clock: Clock): () => SignalVerdict {
  let firstMs: number | undefined;
  let isDecided = false;
  return () => {
    if (firstMs === undefined) {
      firstMs = clock.monotonicMs();
      return "first";
    }
    if (isDecided) {
      return "late";
    }
    isDecided = clock.monotonicMs() - firstMs >= copyMsMax;
    return isDecided ? "decision" : "copy";
  };
}

/** How long a person has to press Ctrl-C again. */
const againMs = 3_000;

/**
 * Exits at Ctrl-C. For commands that follow work which continues without them, and have nothing to close. `stopWork` ends that work when
 * a person at a terminal decides so by a second Ctrl-C. The signal aborts at the first one.
 */
export function leaveOnInterrupt(say: (canStop: boolean) => void, stopWork?: () => Promise<void>): AbortSignal {
  const left = new AbortController();
  const judge = createSignalJudge(systemClock);
  const leave = (): void => process.exit(exitCodes.interrupted);
  let isStopping = false;
  const canStop = stopWork !== undefined && process.stdin.isTTY === true;
  process.on("SIGINT", () => {
    const verdict = judge();
    if (verdict === "first") {
      left.abort();
      say(canStop);
      if (!canStop) {
        leave();
      }
      void systemClock.sleep(againMs).then(() => (isStopping ? undefined : leave()));
    } else if (verdict === "decision") {
      isStopping = true;
      void stopWork?.().finally(leave);
    }
  });
  return left.signal;
}

async function endNow(): Promise<void> {
  await stopBeforeForcedEnd(forcedEndMsMax);
  process.exit(exitCodes.interrupted);
}
