// Standard error as the destination of log lines. Its reader may be slow, gone, or a full disk: the service continues and never
// waits for it.

import { type DestinationStream, pino } from "pino";
import { systemClock } from "../base/clock.ts";

/** A destination of lines. */
export interface LineStream extends DestinationStream {
  /** Calls back with the number of dropped lines once lines are written again. */
  onDropped?(tell: (lines: number) => void): void;
}

/** The maximum size of the lines that wait to be written, in bytes. */
const waitingBytesMax = 1_048_576;
const retryIntervalMs = 20;
/** The maximum number of retries without a new line: a process whose lines are not read must be able to end. */
const retriesMax = 50;
/** The maximum time that an ending process waits for its last lines, in milliseconds. */
const lastLinesMaxMs = 500;

let opened: LineStream | undefined;

/** Returns the stream of this process. */
export function standardError(): LineStream {
  opened ??= openStandardError();
  return opened;
}

function openStandardError(): LineStream {
  let dropped = 0;
  let tell = (_lines: number): void => {};
  let staysUntilMs = 0;
  // When a write would block, the library by default sleeps synchronously. This allows it only while the process ends.
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
    // The library does not try to write while its buffer has no space for a line.
    tryAgain();
  });
  stream.on("write", () => {
    isStuck = false;
    if (dropped > 0) {
      const lines = dropped;
      dropped = 0;
      // Deferred: this runs inside a write.
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
