// What a page keeps of a long log, and how it gets the rest.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { EntrySearch } from "../../console/src/run/entry-search.ts";
import { keptMax, LogEntries, type ReadEntries } from "../../console/src/run/log-entries.ts";
import { until } from "../harness/wait.ts";

const length = 50_000;
const pagesMax = 8;
const pageLength = 250;

function entry(sequence: number, bytesLeftOut = 0): RunResult {
  const payload = { case: "toolCallStarted", value: { toolName: `tool-${sequence}`, parameters: "{}" } } as const;
  return create(RunResultSchema, { sequence: BigInt(sequence), bytesLeftOut, payload });
}

/** A log of a service that sends a hundred entries at once, and then waits for more. */
function logOf(count: number) {
  const reads: number[] = [];
  const read: ReadEntries = async function* (after) {
    reads.push(after);
    for (let from = after; from < count; from += 100) {
      yield Array.from({ length: Math.min(100, count - from) }, (_, index) => entry(from + index + 1));
    }
    await new Promise(() => undefined);
  };
  return { reads, read };
}

function push(entries: LogEntries, count: number): void {
  for (let sequence = 1; sequence <= count; sequence += 1) {
    entries.push(entry(sequence));
  }
}

function countKept(entries: LogEntries): number {
  return Array.from({ length: entries.count }, (_, index) => entries.at(index + 1)).filter((each) => each !== undefined)
    .length;
}

async function sequencesAfter(entries: LogEntries, after: number): Promise<number[]> {
  const sequences: number[] = [];
  for await (const results of entries.after(after)) {
    sequences.push(...results.map(({ sequence }) => Number(sequence)));
  }
  return sequences;
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("E1: of 50,000 entries the newest are kept, and pages of older ones come and go", async () => {
  const { read, reads } = logOf(length);
  let pages = 0;
  const entries = new LogEntries(read, () => {
    pages += 1;
  });
  push(entries, length);
  expect(entries.count).toBe(length);
  expect([entries.first?.sequence, entries.last?.sequence]).toEqual([1n, BigInt(length)]);
  expect(countKept(entries)).toBeLessThanOrEqual(keptMax);
  expect(entries.at(length - 800)?.sequence).toBe(BigInt(length - 800));
  expect(entries.at(300)).toBeUndefined();
  for (let page = 0; page < 20; page += 1) {
    const sequence = page * 1_000 + 300;
    entries.load(sequence);
    // A second one waits for its turn.
    entries.load(sequence + 10_000);
    await until("the page", async () => pages > page);
    expect(entries.at(sequence)?.sequence).toBe(BigInt(sequence));
  }
  expect(reads).toHaveLength(20);
  expect(entries.at(300)).toBeUndefined();
  expect(countKept(entries)).toBeLessThanOrEqual(keptMax + pagesMax * pageLength);
});

test("E2: every entry comes whole and in order, from the page where it has them", async () => {
  const { read, reads } = logOf(length);
  const entries = new LogEntries(read, () => undefined);
  push(entries, length);
  expect(await sequencesAfter(entries, length - 800)).toEqual(numbers(length - 799, length));
  expect(reads).toEqual([]);
  expect(await sequencesAfter(entries, 0)).toEqual(numbers(1, length));
  expect(reads).toEqual([0]);
  // One whose text was cut is read again, for itself and with others.
  const cut = new LogEntries(read, () => undefined);
  push(cut, 9);
  cut.push(entry(10, 400));
  expect(await sequencesAfter(cut, 4)).toEqual(numbers(5, 10));
  expect([reads, cut.at(10)?.bytesLeftOut]).toEqual([[0, 4], 400]);
  cut.load(10);
  await until("the whole entry", async () => cut.at(10)?.bytesLeftOut === 0);
});

test("E1: a log that comes once is kept entire", async () => {
  const entries = new LogEntries(undefined, () => undefined);
  push(entries, length);
  entries.load(1);
  expect(countKept(entries)).toBe(length);
  expect(await sequencesAfter(entries, 0)).toEqual(numbers(1, length));
});

test("a search finds what is no longer kept, and goes on as the log grows", async () => {
  const { read } = logOf(length);
  const entries = new LogEntries(read, () => undefined);
  push(entries, length - 1);
  // As the page does when it draws again: an entry may arrive while the search of the others ends.
  const search: EntrySearch = new EntrySearch(entries, " TOOL-4999", () => search.advance());
  search.advance();
  await until("the end of the search", async () => search.isDone);
  expect(search.found).toEqual([4_999, ...numbers(49_990, 49_998), 49_999].toSorted((one, other) => one - other));
  entries.push(entry(length));
  expect(search.isDone).toBe(false);
  search.advance();
  await until("the end of the search", async () => search.isDone);
  expect(search.found).toHaveLength(11);
  expect((await new EntrySearch(entries, "tool-50000", () => undefined).toLines()).split("\n")).toHaveLength(2);
});
