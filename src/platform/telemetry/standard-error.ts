// Standard error as a place for log lines. Whoever reads them may be slow, gone, or a full disk: the service goes on all the
// same and waits for nobody.

import { type DestinationStream, pino } from "pino";
import { systemClock } from "../base/clock.ts";

export interface LineStream extends DestinationStream {
  /** Calls back, once lines are taken again, with how many were not kept meanwhile. */
  onDropped?(tell: (lines: number) => void): void;
}

/** Lines that cannot be written wait, no more of them than this. */
const waitingBytesMax = 1_048_576;
const retryIntervalMs = 20;
/** Without a new line nobody tries for longer: a process whose lines nobody takes must be able to end. */
const retriesMax = 50;
/** How long the process stays for the lines that still wait when it ends. */
const lastLinesMaxMs = 500;

let opened: LineStream | undefined;

/** The one of this process. */
export function standardError(): LineStream {
  opened ??= openStandardError();
  return opened;
}

function openStandardError(): LineStream {
  let dropped = 0;
  let tell = (_lines: number): void => {};
  let staysUntilMs = 0;
  // Where a write would have to wait, the library sleeps in the middle of everything else, unless it is told not to.
  const retryEAGAIN = (): boolean => systemClock.monotonicMs() < staysUntilMs;
  const stream = pino.destination({ fd: 2, sync: true, maxLength: waitingBytesMax, retryEAGAIN });
  let isStuck = false;
  let isRetrying = false;
  const retry = async (): Promise<void> => {
    isRetrying = true;
    for (let tries = 0; isStuck && tries < retriesMax; tries++) {
      await systemClock.sleep(retryIntervalMs);
      stream.write("");
    }
    isRetrying = false;
  };
  const tryAgain = (): void => {
    isStuck = true;
    if (!isRetrying) {
      void retry();
    }
  };
  stream.on("error", tryAgain);
  stream.on("drop", () => {
    dropped += 1;
    // The library does not try to write a line for which there is no room.
    tryAgain();
  });
  stream.on("write", () => {
    isStuck = false;
    if (dropped > 0) {
      const lines = dropped;
      dropped = 0;
      // Not from within a write.
      setImmediate(() => tell(lines));
    }
  });
  process.once("exit", () => {
    staysUntilMs = systemClock.monotonicMs() + lastLinesMaxMs;
    stream.write("");
  });
  return {
    write: (line) => {
      stream.write(line);
    },
    onDropped: (listener) => {
      tell = listener;
    },
  };
}
