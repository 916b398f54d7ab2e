// Logs as the service writes them, their receipts, and their exported lines.

import type { ChainEntry } from "../../src/engine/hash-chain/chain.ts";
import { printLogLine } from "../../src/engine/hash-chain/log-line.ts";
import { encodeResult, type ResultInit } from "../../src/engine/log/result.ts";
import { printStatement, readStatement, type Statement } from "../../src/engine/receipts/statement.ts";
import { summarizeLog } from "../../src/engine/receipts/summarize.ts";

export const runId = "019a0000-0000-7000-8000-000000000001";

/** A run with text in pieces and a terminal result. */
export function makeLog(entries: number, id = runId): ChainEntry[] {
  return Array.from({ length: entries }, (_, index) => makeEntry(index + 1, payloadAt(index + 1, entries), id));
}

export function makeEntry(sequence: number, init: ResultInit, id = runId): ChainEntry {
  const { bytes } = encodeResult(init, { runId: id, sequence, timeMs: 1_700_000_000_000 + sequence });
  return { sequence, bytes };
}

function payloadAt(sequence: number, last: number): ResultInit {
  if (sequence === last) {
    return { payload: { case: "runCompleted", value: { finishReason: "stop", turns: 1 } } };
  }
  return sequence === 1 ? { payload: { case: "turnStarted", value: { turn: 1 } } } : delta(`word ${sequence}`);
}

export function delta(content: string): ResultInit {
  return { payload: { case: "messageDelta", value: { chunk: { role: "assistant", content, msgSequence: 1 } } } };
}

/** The statement of a log, read back from its text. */
export async function stateLog(log: readonly ChainEntry[], id = runId): Promise<Statement> {
  const summary = (await summarizeLog(id, inPages(log))) ?? fail();
  const times = { started_at: "2026-01-01T00:00:00.000Z", ended_at: "2026-01-01T00:00:09.000Z" };
  const end = { status: "completed", code: "stop", ...times, issued_at: "2026-01-02T00:00:00.000Z" } as const;
  return readStatement(printStatement({ iss: "https://runnel.test", run_id: id, ...summary, ...end }));
}

function fail(): never {
  throw new Error("the log has no entries");
}

export async function* inPages(log: readonly ChainEntry[], pageRows = 100): AsyncGenerator<readonly ChainEntry[]> {
  for (let first = 0; first < log.length; first += pageRows) {
    yield log.slice(first, first + pageRows);
  }
}

export function linesOf(log: readonly ChainEntry[]): string[] {
  return log.map(printLogLine);
}
