// What is found out about a receipt.

import type { Statement } from "../../engine/receipts/statement.ts";
import type { LogVerdict } from "../../engine/receipts/verify-log.ts";

export interface ReceiptFinding {
  readonly kind: "receipt";
  /** Of everything that was looked at. */
  readonly verify: "ok" | "failed";
  /** Why it is no receipt; the signature is not right then, or what is signed is no statement. */
  readonly error?: string;
  readonly kid?: string;
  readonly publicKey?: string;
  /** `claimed`: nobody but the receipt itself says whose the key is. */
  readonly key?: KeyFinding;
  readonly statement?: FoundStatement;
  /** Whether the statement beside the signed one says the same. */
  readonly copy?: "same" | "different" | "none";
  readonly log?: FoundLog;
}

/** Without its marks, which tell people nothing. */
export type FoundStatement = Omit<Statement, "marks">;

export type FoundLog = LogVerdict & { readonly file: string };

export type KeyFinding = "claimed" | "published" | "not_published";
