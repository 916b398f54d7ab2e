// Tail: under every interleaving, a reader gets n+1 after n, until the terminal result.

import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { Follower } from "../../src/engine/log/follower.ts";
import { encodeResult, type LogEntry, type ResultInit } from "../../src/engine/log/result.ts";
import { type TailSource, tail } from "../../src/engine/log/tail.ts";
import { finishRun, type RunRow } from "../../src/engine/storage/run.ts";
import { insertResults } from "../../src/engine/storage/run-result.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { until } from "../harness/wait.ts";
import { addRun, hurriedClock, LocalWakeup, nothingSpent, openStore, turn } from "./store.ts";

const end: ResultInit = { payload: { case: "runCompleted", value: { finishReason: "stop" } } };

function encode(runId: string, sequence: number, init: ResultInit = turn(sequence)): LogEntry {
  return encodeResult(init, { runId, sequence, timeMs: 0 });
}

async function persist(db: Db, runId: string, entries: readonly LogEntry[]): Promise<void> {
  const rows = entries.map(({ sequence, bytes }) => ({ runId, sequence, epoch: 1, payload: bytes }));
  await db.transaction().execute((trx) => insertResults(trx, rows));
}

async function finish(db: Db, run: RunRow, sequence: number): Promise<void> {
  const terminal = new Uint8Array();
  await db.transaction().execute((trx) =>
    finishRun(trx, {
      id: run.id,
      status: "completed",
      turn: 1,
      sequence,
      terminal,
      logHash: undefined,
      spent: nothingSpent,
      failure: undefined,
    }),
  );
}

/** A reader that records the sequences it gets. */
class Reader {
  readonly sequences: number[] = [];
  readonly #leaving = new AbortController();
  readonly over: Promise<unknown>;

  constructor(source: TailSource, runId: string, after: number) {
    this.over = this.#read(source, runId, after).catch((error: unknown) => error);
    onTestFinished(() => this.leave());
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.over;
  }

  async #read(source: TailSource, runId: string, after: number): Promise<void> {
    for await (const entries of tail(source, { runId, after, signal: this.#leaving.signal })) {
      this.sequences.push(...entries.map((entry) => entry.sequence));
    }
  }
}

async function openSource(): Promise<TailSource> {
  const { db } = await openStore();
  return { db, broadcaster: new Broadcaster() };
}

/** A source with a follower that polls for all readers at this interval. */
async function openFollowedSource(pollMs: number): Promise<TailSource> {
  const source = await openSource();
  const follower = new Follower({
    ...source,
    wakeup: new LocalWakeup(),
    clock: hurriedClock(pollMs),
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => follower.close());
  return source;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

test("a late reader gets all of a long log, page by page, and ends with the terminal result", async () => {
  const source = await openSource();
  const run = await addRun(source.db);
  const entries = [...range(1, 1_203).map((sequence) => encode(run.id, sequence)), encode(run.id, 1_204, end)];
  await persist(source.db, run.id, entries);
  const reader = new Reader(source, run.id, 0);
  await reader.over;
  expect(reader.sequences).toEqual(range(1, 1_204));
  expect(source.broadcaster.readerCount).toBe(0);
});

test("a reader that claims a future sequence affects no other reader, and gets only what follows it", async () => {
  const source = await openSource();
  const run = await addRun(source.db);
  const ahead = new Reader(source, run.id, 5);
  await until("the first reader", () => source.broadcaster.readerCount === 1);
  const honest = new Reader(source, run.id, 0);
  for (const sequence of range(1, 7)) {
    const entry = encode(run.id, sequence, sequence === 7 ? end : turn(sequence));
    await persist(source.db, run.id, [entry]);
    expect(source.broadcaster.heard(run.id)).toBe(sequence - 1);
    source.broadcaster.publish(run.id, [entry]);
    await until("the honest reader", () => honest.sequences.at(-1) === sequence);
  }
  await Promise.all([ahead.over, honest.over]);
  expect(honest.sequences).toEqual(range(1, 7));
  expect(ahead.sequences).toEqual([6, 7]);
});

test("a reader that guessed the last sequence before it was written ends with the run", async () => {
  const source = await openFollowedSource(20);
  const run = await addRun(source.db);
  const reader = new Reader(source, run.id, 1);
  await until("the reader", () => source.broadcaster.readerCount === 1);
  await persist(source.db, run.id, [encode(run.id, 1, end)]);
  await finish(source.db, run, 1);
  expect(await reader.over).toBeUndefined();
  expect(reader.sequences).toEqual([]);
});

test("a reader without any wake-up gets what the follower finds", async () => {
  const source = await openFollowedSource(20);
  const run = await addRun(source.db);
  const reader = new Reader(source, run.id, 0);
  await until("the reader", () => source.broadcaster.readerCount === 1);
  await persist(source.db, run.id, [encode(run.id, 1, end)]);
  await reader.over;
  expect(reader.sequences).toEqual([1]);
});

test("a reader that leaves is forgotten at once", async () => {
  const source = await openSource();
  const run = await addRun(source.db);
  const reader = new Reader(source, run.id, 0);
  await until("the reader", () => source.broadcaster.readerCount === 1);
  await reader.leave();
  expect(source.broadcaster.readerCount).toBe(0);
});

type Command =
  | { readonly kind: "write"; readonly count: number }
  | { readonly kind: "publish"; readonly skip: number }
  | { readonly kind: "open" }
  | { readonly kind: "cut" };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("write" as const), count: fc.integer({ min: 1, max: 300 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("publish" as const), skip: fc.nat({ max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("open" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const) }) },
);

test("under every interleaving of writes, wake-ups, new readers and cuts, each reader gets n+1 after n", async () => {
  const source = await openFollowedSource(50);
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 12 }), async (commands) => {
      const model = new Model(source, await addRun(source.db, { client: newUuid(0) }));
      for (const each of commands) {
        await model.apply(each);
      }
      await model.end();
      for (const { from, reader, wasCut } of model.readers) {
        const got = reader.sequences;
        expect(got).toEqual(range(from + 1, from + got.length));
        if (!wasCut) {
          expect(from + got.length).toBe(model.written);
        }
      }
      expect(source.broadcaster.readerCount).toBe(0);
    }),
    { numRuns: 25 },
  );
});

/** The log as a number: entries 1 to `written` are durable, and some of them were published. */
class Model {
  readonly readers: { from: number; reader: Reader; wasCut: boolean }[] = [];
  written = 0;
  #told = 0;
  readonly #source: TailSource;
  readonly #run: RunRow;

  constructor(source: TailSource, run: RunRow) {
    this.#source = source;
    this.#run = run;
  }

  async apply(each: Command): Promise<void> {
    if (each.kind === "write") {
      await this.#write(range(this.written + 1, this.written + each.count), turn(1));
    } else if (each.kind === "publish") {
      this.#publish(this.#told + 1 + each.skip);
    } else if (each.kind === "open") {
      this.#open();
    } else {
      await this.#cut();
    }
  }

  async end(): Promise<void> {
    await this.#write([this.written + 1], end);
    await Promise.all(this.readers.map(({ reader }) => reader.over));
  }

  async #write(sequences: readonly number[], init: ResultInit): Promise<void> {
    const entries = sequences.map((sequence) => encode(this.#run.id, sequence, init));
    await persist(this.#source.db, this.#run.id, entries);
    this.written += sequences.length;
  }

  /** This process never hears of the skipped entries. */
  #publish(first: number): void {
    const entries = range(first, this.written).map((sequence) => encode(this.#run.id, sequence, turn(1)));
    this.#source.broadcaster.publish(this.#run.id, entries);
    this.#told = Math.max(this.#told, this.written);
  }

  #open(): void {
    const from = Math.floor(this.written / 2);
    this.readers.push({ from, reader: new Reader(this.#source, this.#run.id, from), wasCut: false });
  }

  async #cut(): Promise<void> {
    const open = this.readers.find(({ wasCut }) => !wasCut);
    if (open === undefined) {
      return;
    }
    open.wasCut = true;
    await open.reader.leave();
    const from = open.from + open.reader.sequences.length;
    this.readers.push({ from, reader: new Reader(this.#source, this.#run.id, from), wasCut: false });
  }
}
