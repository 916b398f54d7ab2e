// The home directory of the user who runs the command.

import { homedir } from "node:os";

/** Returns "" for an account that the machine does not know, as in some containers: Node throws for it. */
export function findHome(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}
