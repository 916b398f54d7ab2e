// What a protocol adds to the command line.

import type { Command } from "commander";
import type { SignedFormat } from "./verify/verdict.ts";

export interface ProtocolCommands {
  /** Called when the program has the commands of the core. */
  addTo(program: Command): void;
  /** What `verify` checks beside receipts. */
  readonly signedFormat?: SignedFormat;
}
