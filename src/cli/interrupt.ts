// Ctrl-C at a command that follows what goes on without it.

import { exitCodes } from "./exit-codes.ts";

/** Whatever was begun beside the answer is cleaned up when the process exits. */
export function leaveOnInterrupt(say: () => void): void {
  process.once("SIGINT", () => {
    say();
    process.exit(exitCodes.interrupted);
  });
}
