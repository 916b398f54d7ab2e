// Ctrl-C at a command that follows what goes on without it.

import { exitCodes } from "./exit-codes.ts";

/** Whatever was begun beside the answer is cleaned up when the process exits. */
export function leaveOnInterrupt(say: () => void): void {
  process.once("SIGINT", () => {
    say();
    process.exit(exitCodes.interrupted);
  });
}

/** For a command that has to close what it opened: aborts at the first signal; a second one ends the process at once. */
export function abortOnInterrupt(): AbortSignal {
  const interrupted = new AbortController();
  const onSignal = (): void => {
    if (interrupted.signal.aborted) {
      process.exit(exitCodes.interrupted);
    }
    interrupted.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return interrupted.signal;
}
