// Standard error as a place for log lines. Whoever reads them may be slow, gone, or a full disk: the service goes on all the
// same and waits for nobody.

import { type DestinationStream, pino } from "pino";

export interface LineStream extends DestinationStream {
  /** Calls back, once lines are taken again, with how many were not kept meanwhile. */
  onDropped?(tell: (lines: number) => void): void;
}

/** Lines that cannot be written wait, no more of them than this. */
const waitingBytesMax = 1_048_576;
const retryIntervalMs = 20;
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
  let isRetryDue = false;
  // Where a write would have to wait, the library sleeps in the middle of everything else, unless it is told not to.
  const retryEAGAIN = (): boolean => performance.now() < staysUntilMs;
  const stream = pino.destination({ fd: 2, sync: true, maxLength: waitingBytesMax, retryEAGAIN });
  const writeWaiting = (): void => {
    isRetryDue = false;
    stream.write("");
  };
  stream.on("error", () => {
    if (!isRetryDue) {
      isRetryDue = true;
      setTimeout(writeWaiting, retryIntervalMs).unref();
    }
  });
  stream.on("drop", () => {
    dropped += 1;
  });
  stream.on("write", () => {
    if (dropped > 0) {
      const lines = dropped;
      dropped = 0;
      // Not from within a write.
      setImmediate(() => tell(lines));
    }
  });
  process.once("exit", () => {
    staysUntilMs = performance.now() + lastLinesMaxMs;
    writeWaiting();
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
