// The findings about a receipt.

import type { Statement } from "../../engine/receipts/statement.ts";
import type { LogVerdict } from "../../engine/receipts/verify-log.ts";

/** The findings about a receipt, as `--json` prints them. */
export interface ReceiptFinding {
  readonly kind: "receipt";
  /** The verdict on all checks together. */
  readonly verify: "ok" | "failed";
  /** Why the receipt is invalid: a wrong signature, or signed content that is not a statement. */
  readonly error?: string;
  readonly kid?: string;
  readonly publicKey?: string;
  /** `claimed`: only the receipt itself says that the key is the service's. */
  readonly key?: KeyFinding;
  readonly statement?: FoundStatement;
  /** Whether the statement beside the signed one is equal to it. */
  readonly copy?: "same" | "different" | "none";
  readonly log?: FoundLog;
}

/** Leaves out the marks, which are useless to people. */
export type FoundStatement = Omit<Statement, "marks">;

/** The verdict on a log, and its file. */
export type FoundLog = LogVerdict & { readonly file: string };

/** Whether the key is among the published ones. */
export type KeyFinding = "claimed" | "published" | "not_published";
