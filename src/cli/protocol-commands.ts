// The part of a protocol on the command line.

import type { CommandEntry, Define } from "./command-entry.ts";
import type { ProtocolFixes } from "./fixes.ts";
import type { SignedFormat } from "./verify/verdict.ts";

/** The commands of a protocol, and the fixes for its failures. */
export interface ProtocolCommands extends ProtocolFixes {
  /** The commands, which follow those of the core in the help. */
  readonly commands: readonly CommandEntry[];
  /** Loads what the protocol adds to `keys`. */
  readonly loadKeys?: () => Promise<Define>;
  /** Loads the format that `verify` checks beside receipts. */
  readonly loadSignedFormat?: () => Promise<SignedFormat>;
}
