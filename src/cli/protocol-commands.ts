// The part of a protocol on the command line.

import type { Command } from "commander";
import type { SignedFormat } from "./verify/verdict.ts";

/** The commands of a protocol. */
export interface ProtocolCommands {
  /** Adds the commands, after those of the core. */
  addTo(program: Command): void;
  /** The format that `verify` checks beside receipts. */
  readonly signedFormat?: SignedFormat;
}
