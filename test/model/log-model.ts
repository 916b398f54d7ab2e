// The model: the expected log of each run as a text, to which every written result adds a word. The log itself is read over a
// connection that is never cut.

import { expect } from "vitest";
import { decodeResult, isTerminal, type ResultInit } from "../../src/engine/log/result.ts";
import type { RunWriter } from "../../src/engine/log/writer.ts";
import { findRun, isActive } from "../../src/engine/storage/run.ts";
import type { LogWorld, Site } from "./log-world.ts";
import type { PullReader } from "./pull-reader.ts";

/** A writer that owns a run, or owned it once. */
export interface Pen {
  readonly writer: RunWriter;
  readonly site: Site;
  /** Its lease has ended or another replica owns its run: results that it gets from now on must not be written. */
  isDoomed: boolean;
}

export interface ModelRun {
  readonly id: string;
  pen: Pen;
  readonly oldPens: Pen[];
  /** The part that is durable … */
  certain: string;
  /** … and the part after it, of which any prefix may be durable. */
  pending: string;
  /** Written in the same transaction as the results of each commit. */
  turn: number;
  isEnded: boolean;
  /** The log may have a result that was never announced; a poll finds it. */
  isUntold: boolean;
}

export interface ModelReader {
  readonly run: ModelRun;
  readonly site: Site;
  /** Always waits for the next result. Other readers pull only on command. */
  readonly isEager: boolean;
  reader: PullReader;
}

export interface LogModel {
  readonly runs: ModelRun[];
  readonly readers: ModelReader[];
  /** The number of results so far; it makes the text of each result unique. */
  words: number;
}

export interface Row {
  readonly sequence: number;
  readonly epoch: number;
  readonly payload: Uint8Array;
}

export async function readRows({ store }: LogWorld, runId: string): Promise<Row[]> {
  return await store.db
    .selectFrom("run_result")
    .select(["sequence", "epoch", "payload"])
    .where("run_id", "=", runId)
    .orderBy("sequence")
    .execute();
}

/** The text of the results in order. It does not depend on how text was split into results. */
export function tellOf(rows: readonly Pick<Row, "payload">[]): string {
  return rows.map(({ payload }) => wordOf(decodeResult(payload))).join("");
}

export function wordOf({ payload }: ResultInit): string {
  switch (payload?.case) {
    case "turnStarted":
      return `[${payload.value.turn}]`;
    case "messageDelta":
      return payload.value.chunk?.content ?? "";
    default:
      return isTerminal(payload) ? "!" : "?";
  }
}

/** Checks the invariants that hold at any time, after any loss, cut or takeover. */
export async function expectLogsToHold(model: LogModel, world: LogWorld): Promise<void> {
  for (const { reader } of model.readers.filter(({ isEager }) => isEager)) {
    reader.pull();
  }
  for (const run of model.runs) {
    const readers = model.readers.filter((each) => each.run === run).map(({ reader }) => reader);
    // The readers' entries are copied before the log is read, which may be longer by then but never shorter.
    const got = readers.map((reader) => reader.got.map(({ bytes }) => Buffer.from(bytes)));
    const rows = await readRows(world, run.id);
    await expectLogToHold(run, rows, world);
    for (const [index, { after }] of readers.entries()) {
      const bytes = got[index] ?? [];
      expect(bytes, "a reader has what the log has").toEqual(
        rows.slice(after, after + bytes.length).map(({ payload }) => Buffer.from(payload)),
      );
    }
  }
}

async function expectLogToHold(run: ModelRun, rows: readonly Row[], { store }: LogWorld): Promise<void> {
  const places = rows.map((_, index) => index + 1);
  expect(rows.map(({ sequence }) => sequence)).toEqual(places);
  expect(rows.map(({ payload }) => Number(decodeResult(payload).sequence))).toEqual(places);
  const epochs = rows.map(({ epoch }) => epoch);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  const told = tellOf(rows);
  expect(told.slice(0, run.certain.length), "what was durable stays").toBe(run.certain);
  expect(`${run.certain}${run.pending}`.startsWith(told), `${told} was said`).toBe(true);
  const row = await findRun(store.db, run.id);
  expect(row?.turn, "results and effects go together").toBe(run.turn);
  expect(isActive(row?.status ?? "failed")).toBe(!run.isEnded);
  if (run.isEnded) {
    expect(told.indexOf("!"), "the terminal comes once, and last").toBe(told.length - 1);
  }
}
