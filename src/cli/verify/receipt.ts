// Verifies a receipt: whether its signature is valid, whether the service published its key, and whether a log is the stated
// one.

import { isDeepStrictEqual } from "node:util";
import { type SignedText, verifyText } from "../../engine/receipts/jws.ts";
import { ReceiptFault } from "../../engine/receipts/receipt-fault.ts";
import { readStatement, type Statement } from "../../engine/receipts/statement.ts";
import { type LogVerdict, verifyLog } from "../../engine/receipts/verify-log.ts";
import { nameOf, readLines } from "../input.ts";
import { readPublishedKeys } from "./published-keys.ts";
import type { ReceiptFile } from "./receipt-file.ts";
import type { KeyFinding, ReceiptFinding } from "./receipt-finding.ts";
import { showReceipt } from "./show-receipt.ts";
import type { Verdict } from "./verdict.ts";

/** The flags for receipts; `log` is a path. */
export interface ReceiptFlags {
  readonly jwks?: string;
  readonly log?: string;
}

/** Verifies a receipt, and with the flags its key and its log. */
export async function verifyReceipt({ jws, copy }: ReceiptFile, { jwks, log }: ReceiptFlags): Promise<Verdict> {
  const isPublished = jwks === undefined ? undefined : await readIsPublished(jwks);
  const opened = open(jws);
  const { signed, statement, error } = opened;
  const finding: Omit<ReceiptFinding, "verify"> = {
    kind: "receipt",
    ...(error !== undefined && { error }),
    ...(signed !== undefined && {
      kid: signed.kid,
      publicKey: Buffer.from(signed.publicKey).toString("base64"),
      key: isPublished === undefined ? "claimed" : isPublished(signed),
    }),
    ...(signed !== undefined &&
      statement !== undefined && { statement: withoutMarks(statement), copy: compare(signed.payload, copy) }),
    ...(statement !== undefined &&
      log !== undefined && { log: { file: nameOf(log), ...(await verifyLog(statement, readLines(log))) } }),
  };
  const isRight = error === undefined && finding.key !== "not_published" && isLogRight(finding.log);
  const value: ReceiptFinding = { ...finding, verify: isRight ? "ok" : "failed" };
  return { isRight, value: { ...value }, show: (paint) => showReceipt(value, paint) };
}

/** Returns false also when decoded text differs from the stored bytes, because people would read and believe it. */
function isLogRight(log: LogVerdict | undefined): boolean {
  return log === undefined || (log.bad === undefined && log.misquoted.length === 0);
}

async function readIsPublished(path: string): Promise<(signed: SignedText) => KeyFinding> {
  const keys = await readPublishedKeys(path);
  return ({ kid, publicKey }) =>
    keys.some((key) => key.kid === kid && Buffer.from(publicKey).equals(key.publicKey)) ? "published" : "not_published";
}

interface Opened {
  readonly signed?: SignedText;
  readonly statement?: Statement;
  readonly error?: string;
}

function open(jws: string): Opened {
  let signed: SignedText | undefined;
  try {
    signed = verifyText(jws);
    return { signed, statement: readStatement(signed.payload) };
  } catch (error) {
    if (error instanceof ReceiptFault) {
      return { ...(signed !== undefined && { signed }), error: error.message };
    }
    throw error;
  }
}

function compare(payload: string, copy: unknown): "same" | "different" | "none" {
  if (copy === undefined) {
    return "none";
  }
  return isDeepStrictEqual(JSON.parse(payload), copy) ? "same" : "different";
}

function withoutMarks({ marks: _marks, ...statement }: Statement): Omit<Statement, "marks"> {
  return statement;
}
