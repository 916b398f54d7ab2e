// Receipts: whether a log is the one that the service has signed, without asking the service. docs/signed-jobs.md.

import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { GetReceiptResponse } from "../../../gen/runnel/v1/receipt_service_pb.js";
import { type RunResult, RunResultSchema } from "../../../gen/runnel/v1/result_pb.js";
import { encodeText, isEd25519, join, sha256, toHex } from "./crypto.ts";
import { RunnelError } from "./error.ts";

/** A receipt and what it shall prove. */
export interface ReceivedReceipt {
  readonly receipt: Pick<GetReceiptResponse, "jws">;
  /** The results of the whole log as stored, in order: those of TailRun, read as `TailRunBytes`. */
  readonly results: readonly Uint8Array[];
  /** The 32 bytes of a key that the caller trusts: `x` of a published key, decoded. */
  readonly publicKey: Uint8Array;
}

/** What the service has signed. */
export interface ReceiptStatement {
  readonly type: "runnel.receipt.v1";
  readonly iss?: string;
  readonly run_id: string;
  readonly job_id?: string;
  readonly region?: string;
  readonly job_spec_sha256?: string;
  readonly entries: number;
  readonly first_hash: string;
  readonly last_hash: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly status: "completed" | "failed" | "cancelled";
  readonly code?: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly issued_at: string;
}

const publicKeyBytes = 32;
const entriesPerBlock = 64;

/** Returns the statement of a receipt that fits the log. Throws a RunnelError INVALID_ARGUMENT when one of the two was changed. */
export async function verifyReceipt({ receipt, results, publicKey }: ReceivedReceipt): Promise<ReceiptStatement> {
  const statement = await readStatement(receipt.jws, publicKey);
  if (statement.entries !== results.length) {
    throw refuse("LOG_CHANGED", `the log has ${results.length} entries; the service has signed ${statement.entries}`);
  }
  if ((await hashLog(statement.run_id, results)) !== statement.last_hash) {
    throw refuse("LOG_CHANGED", "the log differs from the signed one: an entry was changed, moved or replaced");
  }
  checkEnd(statement, results.at(-1));
  return statement;
}

async function readStatement(jws: string, publicKey: Uint8Array): Promise<ReceiptStatement> {
  const parts = jws.split(".");
  const [header, payload, signature] = parts.map(decodePart);
  if (parts.length !== 3 || !header || !payload || !signature) {
    throw refuse("RECEIPT_INVALID", "the receipt is not a compact JWS (RFC 7515)");
  }
  const { typ, alg } = parse<{ typ?: unknown; alg?: unknown }>(header);
  if (typ !== "runnel-receipt+jws" || alg !== "EdDSA") {
    throw refuse("RECEIPT_INVALID", "the header is not that of a receipt");
  }
  const signed = encodeText(jws.slice(0, jws.lastIndexOf(".")));
  // The key inside the header proves nothing: anybody can put one there.
  if (publicKey.length !== publicKeyBytes || !(await isEd25519(Uint8Array.from(publicKey), signature, signed))) {
    throw refuse("SIGNATURE_INVALID", "the receipt was changed, or not signed with the trusted key");
  }
  const statement = parse<ReceiptStatement>(payload);
  if (statement.type !== "runnel.receipt.v1") {
    throw refuse("RECEIPT_INVALID", "the statement is not that of a receipt, or of a newer version");
  }
  return statement;
}

/** `B(k+1) = SHA-256(B(k) ‖ frames)`; a frame is the length of an entry as a varint, and the entry. */
async function hashLog(runId: string, results: readonly Uint8Array[]): Promise<string> {
  let hash = await sha256(encodeText(`runnel.run-log.v1\n${runId.toLowerCase()}`));
  for (let start = 0; start < results.length; start += entriesPerBlock) {
    const block = results.slice(start, start + entriesPerBlock);
    hash = await sha256(join([hash, ...block.flatMap((entry) => [varint(entry.length), entry])]));
  }
  return toHex(hash);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) {
      return Uint8Array.from([...bytes, left]);
    }
    bytes.push((left % 128) + 128);
  }
}

/** A signer could state another end than the log has. */
function checkEnd({ status }: ReceiptStatement, last: Uint8Array | undefined): void {
  const { payload } = readResult(last);
  const isRight =
    payload.case === "runCompleted" ? status === "completed" : payload.case === "runFailed" && status !== "completed";
  if (!isRight) {
    throw refuse("END_DIFFERS", `the statement says ${status}; the last entry of the log says something else`);
  }
}

function readResult(bytes: Uint8Array | undefined): RunResult {
  try {
    return fromBinary(RunResultSchema, bytes ?? new Uint8Array());
  } catch (cause) {
    throw refuse("LOG_CHANGED", "the last entry is not a result", cause);
  }
}

/** Decodes base64url without padding, in its one valid form. */
function decodePart(part: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) {
    return undefined;
  }
  try {
    return Uint8Array.from(base64Decode(part));
  } catch {
    return undefined;
  }
}

function parse<T extends object>(bytes: Uint8Array): T {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof parsed === "object" && parsed !== null) {
      return parsed as T;
    }
  } catch {
    // Said below.
  }
  throw refuse("RECEIPT_INVALID", "the receipt does not hold JSON objects");
}

function refuse(reason: string, message: string, cause?: unknown): RunnelError {
  return new RunnelError("INVALID_ARGUMENT", message, { reason, cause });
}
