// The statement of a receipt: what a run was asked to do, how it ended, and the hash chain of its log.
//
// T1  The same statement always has the same text. A text is read only if its parts do not contradict each other.

import type { RunEndStatus } from "../../platform/base/run-end.ts";
import { hashBytes } from "../hash-chain/chain.ts";
import { markBytes, markCountOf, markIntervalOf } from "../hash-chain/marks.ts";
import { ReceiptFault } from "./receipt-fault.ts";

const statementType = "runnel.receipt.v1";

/** The part of a statement that is computed from the log alone. Hashes are hexadecimal. */
export interface LogSummary {
  readonly entries: number;
  /** The value of the chain after the first entry. */
  readonly first_hash: string;
  /** The value after the last entry. */
  readonly last_hash: string;
  /** The number of entries by type of result, such as `message.delta`. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many entries lie from one mark to the next. */
  readonly mark_interval: number;
  /** All marks in base64: the first 8 bytes of the value at each interval, and after the last entry. */
  readonly marks: string;
}

/** A statement. Its members are in the order of its text. */
export interface Statement extends LogSummary {
  readonly type: typeof statementType;
  /** The issuer: the service that signed. */
  readonly iss?: string | undefined;
  readonly run_id: string;
  readonly job_id?: string | undefined;
  readonly region?: string | undefined;
  /** The SHA-256 of the canonical bytes of the signed JobSpec, in hexadecimal. */
  readonly job_spec_sha256?: string | undefined;
  readonly status: RunEndStatus;
  /** The code of the failure, or the finish reason of a completed run. */
  readonly code?: string | undefined;
  readonly started_at: string;
  readonly ended_at: string;
  readonly issued_at: string;
}

/** Returns the text of a statement: JSON with its members in the order of the type. */
export function printStatement(statement: Omit<Statement, "type">): string {
  const { iss, run_id, job_id, region, job_spec_sha256, entries, first_hash, last_hash, status, code } = statement;
  const { started_at, ended_at, issued_at, mark_interval, marks } = statement;
  const counts = Object.fromEntries(Object.entries(statement.counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const what = { type: statementType, iss, run_id, job_id, region, job_spec_sha256 };
  const log = { entries, first_hash, last_hash, counts };
  return JSON.stringify({ ...what, ...log, status, code, started_at, ended_at, issued_at, mark_interval, marks });
}

/**
 * Reads a statement. Members that this version does not know are left out.
 * @throws ReceiptFault when the text is not a statement or contradicts itself.
 */
export function readStatement(json: string): Statement {
  const source = parseObject(json);
  if (source.type !== statementType) {
    throw new ReceiptFault(
      `the statement is not of type "${statementType}": it is not a receipt, or has a newer version`,
    );
  }
  const statement: Statement = {
    type: statementType,
    iss: readOptional(source, "iss", anyText),
    run_id: readText(source, "run_id", uuid),
    job_id: readOptional(source, "job_id", anyText),
    region: readOptional(source, "region", anyText),
    job_spec_sha256: readOptional(source, "job_spec_sha256", hexHash),
    entries: readCount(source, "entries"),
    first_hash: readText(source, "first_hash", hexHash),
    last_hash: readText(source, "last_hash", hexHash),
    counts: readCounts(source),
    status: readText(source, "status", endStatus) as RunEndStatus,
    code: readOptional(source, "code", anyText),
    started_at: readText(source, "started_at", time),
    ended_at: readText(source, "ended_at", time),
    issued_at: readText(source, "issued_at", time),
    mark_interval: readCount(source, "mark_interval"),
    marks: readText(source, "marks", base64),
  };
  refuseContradictions(statement);
  return statement;
}

const anyText = /^/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hexHash = new RegExp(`^[0-9a-f]{${2 * hashBytes}}$`);
const endStatus = /^(?:completed|failed|cancelled)$/;
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

type Source = Readonly<Record<string, unknown>>;

function parseObject(json: string): Source {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new ReceiptFault("the statement is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ReceiptFault("the statement is not an object");
  }
  return parsed as Source;
}

function readText(source: Source, name: string, form: RegExp): string {
  const value = Object.hasOwn(source, name) ? source[name] : undefined;
  if (typeof value !== "string" || !form.test(value)) {
    throw new ReceiptFault(`the statement's ${name} is missing or invalid`);
  }
  return value;
}

function readOptional(source: Source, name: string, form: RegExp): string | undefined {
  return Object.hasOwn(source, name) ? readText(source, name, form) : undefined;
}

function readCount(source: Source, name: string): number {
  const value = Object.hasOwn(source, name) ? source[name] : undefined;
  if (!isCount(value)) {
    throw new ReceiptFault(`the statement's ${name} is missing or not an integer above 0`);
  }
  return value;
}

function readCounts({ counts }: Source): Record<string, number> {
  if (typeof counts !== "object" || counts === null || !Object.values(counts).every(isCount)) {
    throw new ReceiptFault("the statement's counts are missing or not a number for each type");
  }
  return counts as Record<string, number>;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function refuseContradictions({ entries, first_hash, last_hash, counts, mark_interval, marks }: Statement): void {
  const bytes = Buffer.from(marks, "base64");
  const [first, last] = [first_hash, last_hash].map((hash) => hash.slice(0, 2 * markBytes));
  const isSound =
    Object.values(counts).reduce((sum, count) => sum + count, 0) === entries &&
    mark_interval === markIntervalOf(entries) &&
    bytes.length === markBytes * markCountOf(entries) &&
    bytes.toString("base64") === marks &&
    bytes.subarray(-markBytes).toString("hex") === last &&
    (mark_interval > 1 || bytes.subarray(0, markBytes).toString("hex") === first);
  if (!isSound) {
    throw new ReceiptFault("the statement contradicts itself: its entries, counts, hashes and marks do not match");
  }
}
