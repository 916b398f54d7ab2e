// What a receipt says of a run: what was asked, how it ended, and the hash chain of everything that it logged in between.
//
// T1  The same statement always has the same text, and a text is read only if nothing in it contradicts the rest.

import type { RunEndStatus } from "../../platform/base/run-end.ts";
import { hashBytes } from "../hash-chain/chain.ts";
import { markBytes, markCountOf, markIntervalOf } from "../hash-chain/marks.ts";
import { ReceiptFault } from "./receipt-fault.ts";

const statementType = "runnel.receipt.v1";

/** Everything that is made of the log alone. Hashes are in hexadecimal digits. */
export interface LogSummary {
  readonly entries: number;
  /** The value of the chain after the first entry. */
  readonly first_hash: string;
  /** After the last one. */
  readonly last_hash: string;
  /** Entries by type of result. */
  readonly counts: Readonly<Record<string, number>>;
  readonly mark_interval: number;
  /** Base64 of the first 8 bytes of the value after every so many entries, and after the last one. */
  readonly marks: string;
}

/** Its members are in the order of its text. */
export interface Statement extends LogSummary {
  readonly type: typeof statementType;
  /** Who says so. */
  readonly iss?: string | undefined;
  readonly run_id: string;
  readonly job_id?: string | undefined;
  readonly region?: string | undefined;
  /** Of the canonical bytes of the JobSpec that was signed. */
  readonly job_spec_sha256?: string | undefined;
  readonly status: RunEndStatus;
  /** Why it failed, or with what reason it completed. */
  readonly code?: string | undefined;
  readonly started_at: string;
  readonly ended_at: string;
  readonly issued_at: string;
}

export function printStatement(statement: Omit<Statement, "type">): string {
  const { iss, run_id, job_id, region, job_spec_sha256, entries, first_hash, last_hash, status, code } = statement;
  const { started_at, ended_at, issued_at, mark_interval, marks } = statement;
  const counts = Object.fromEntries(Object.entries(statement.counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const what = { type: statementType, iss, run_id, job_id, region, job_spec_sha256 };
  const log = { entries, first_hash, last_hash, counts };
  return JSON.stringify({ ...what, ...log, status, code, started_at, ended_at, issued_at, mark_interval, marks });
}

/** Members that this version does not know are left out. Throws a `ReceiptFault`. */
export function readStatement(json: string): Statement {
  const source = parseObject(json);
  if (source.type !== statementType) {
    throw new ReceiptFault(
      `the statement is not of type "${statementType}": it is no receipt, or one of a newer version`,
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
    throw new ReceiptFault(`the statement's ${name} is missing or not what it should be`);
  }
  return value;
}

function readOptional(source: Source, name: string, form: RegExp): string | undefined {
  return Object.hasOwn(source, name) ? readText(source, name, form) : undefined;
}

function readCount(source: Source, name: string): number {
  const value = Object.hasOwn(source, name) ? source[name] : undefined;
  if (!isCount(value)) {
    throw new ReceiptFault(`the statement's ${name} is missing or no number from 1 on`);
  }
  return value;
}

function readCounts({ counts }: Source): Record<string, number> {
  if (typeof counts !== "object" || counts === null || !Object.values(counts).every(isCount)) {
    throw new ReceiptFault("the statement's counts are missing or not numbers by type");
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
    throw new ReceiptFault(
      "the statement contradicts itself: its entries, counts, hashes and marks do not fit each other",
    );
  }
}
