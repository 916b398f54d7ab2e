// Verification of a log against its receipt: every change is noticed, and the first bad entry is named.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChainEntry } from "../../src/engine/hash-chain/chain.ts";
import type { ResultInit } from "../../src/engine/log/result.ts";
import { readStatement, type Statement } from "../../src/engine/receipts/statement.ts";
import { type LogVerdict, verifyLog } from "../../src/engine/receipts/verify-log.ts";
import { delta, linesOf, makeEntry, makeLog, runId, stateLog } from "./log.ts";

const otherRun = "019a0000-0000-7000-8000-000000000002";
/** Lengths around the block size of the chain, and over more than two blocks. */
const lengths = fc.oneof(fc.integer({ min: 2, max: 150 }), fc.constantFrom(63, 64, 65, 127, 128, 129));

async function* streamed(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function verify(statement: Statement, lines: readonly string[]): Promise<LogVerdict> {
  return await verifyLog(statement, streamed(lines));
}

async function verifyEntries(statement: Statement, log: readonly ChainEntry[]): Promise<LogVerdict> {
  return await verify(statement, linesOf(log));
}

interface Expected {
  readonly at: number;
  readonly problems: readonly string[];
}

/** Checks that in any log the damage is found at the expected entry. */
async function expectFound(
  damage: (log: readonly ChainEntry[], a: number, b: number) => { log: readonly ChainEntry[] } & Expected,
): Promise<void> {
  const place = fc.nat({ max: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(lengths, place, place, async (length, a, b) => {
      const log = makeLog(length);
      const statement = await stateLog(log);
      const { log: damaged, at, problems } = damage(log, a, b);
      const { bad } = await verifyEntries(statement, damaged);
      expect(bad).toMatchObject({ first: at, last: at });
      expect(problems).toContain(bad?.problem);
    }),
  );
}

describe("an unchanged log is valid", () => {
  test.each([1, 2, 63, 64, 65, 127, 128, 129, 300])("with %i entries", async (length) => {
    const log = makeLog(length);
    expect(await verifyEntries(await stateLog(log), log)).toEqual({ bad: undefined, misquoted: [] });
  });

  test("without the decoded form, and with empty lines", async () => {
    const log = makeLog(3);
    const lines = log.map(({ sequence, bytes }) =>
      JSON.stringify({ sequence, bytes: Buffer.from(bytes).toString("base64") }),
    );
    const spaced = ["", ...lines, "", "\r"];
    expect(await verify(await stateLog(log), spaced)).toEqual({ bad: undefined, misquoted: [] });
  });
});

describe("in any log, the first bad entry is found after", () => {
  test("the removal of any entry", async () => {
    await expectFound((log, a) => {
      const at = (a % log.length) + 1;
      const isLast = at === log.length;
      return { log: log.toSpliced(at - 1, 1), at, problems: [isLast ? "ends_too_early" : "missing"] };
    });
  });

  test("the change of any byte", async () => {
    await expectFound((log, a, b) => {
      const at = (a % log.length) + 1;
      const entry = log[at - 1] ?? expect.unreachable();
      const bytes = Buffer.from(entry.bytes);
      const byte = b % bytes.length;
      bytes[byte] = (bytes[byte] ?? 0) ^ (1 + ((a + b) % 255));
      // A byte of the sequence number makes it look like another entry.
      const problems = ["changed", "wrong_run", "missing", "surplus"];
      return { log: log.with(at - 1, { ...entry, bytes }), at, problems };
    });
  });

  test("the swap of any two", async () => {
    await expectFound((log, a, b) => {
      const first = (a % (log.length - 1)) + 1;
      const second = first + 1 + (b % (log.length - first));
      const [x, y] = [log[first - 1] ?? expect.unreachable(), log[second - 1] ?? expect.unreachable()];
      return { log: log.with(first - 1, y).with(second - 1, x), at: first, problems: ["out_of_order"] };
    });
  });

  test("the swap of any two with corrected line numbers", async () => {
    await expectFound((log, a, b) => {
      const first = (a % (log.length - 1)) + 1;
      const second = first + 1 + (b % (log.length - first));
      const [x, y] = [log[first - 1] ?? expect.unreachable(), log[second - 1] ?? expect.unreachable()];
      const damaged = log
        .with(first - 1, { sequence: first, bytes: y.bytes })
        .with(second - 1, { sequence: second, bytes: x.bytes });
      return { log: damaged, at: first, problems: ["out_of_order"] };
    });
  });

  test("its truncation at any place", async () => {
    await expectFound((log, a) => {
      const left = a % log.length;
      return { log: log.slice(0, left), at: left + 1, problems: ["ends_too_early"] };
    });
  });

  test("an additional entry at any place, forged or copied", async () => {
    await expectFound((log, a, b) => {
      const at = (a % (log.length + 1)) + 1;
      const copied = log[b % log.length] ?? expect.unreachable();
      // A copy next to its original is found at the following entry.
      const place = copied.sequence === at ? at + 1 : at;
      const inserted = b % 2 === 0 ? makeEntry(at, delta("never said")) : copied;
      const problems = ["surplus", "out_of_order"];
      return { log: log.toSpliced(at - 1, 0, inserted), at: b % 2 === 0 ? at : place, problems };
    });
  });

  test("the replacement of an entry and of all after it, with a consistent chain", async () => {
    await expectFound((log, a) => {
      const at = (a % log.length) + 1;
      const forged = log.map((entry) =>
        entry.sequence < at ? entry : makeEntry(entry.sequence, delta(`other words ${entry.sequence}`)),
      );
      return { log: forged, at, problems: ["changed"] };
    });
  });

  test("an entry of another run", async () => {
    await expectFound((log, a) => {
      const at = (a % log.length) + 1;
      const foreign = makeLog(log.length, otherRun)[at - 1] ?? expect.unreachable();
      return { log: log.with(at - 1, foreign), at, problems: ["wrong_run"] };
    });
  });
});

test("a receipt over a forged log fits only that log, not the true one", async () => {
  const log = makeLog(100);
  const forged = log.with(41, makeEntry(42, delta("other words")));
  const statement = await stateLog(forged);
  expect((await verifyEntries(statement, forged)).bad).toBeUndefined();
  expect((await verifyEntries(statement, log)).bad).toMatchObject({ first: 42, last: 42, problem: "changed" });
});

test("the log of another run is found at the first entry", async () => {
  const statement = await stateLog(makeLog(5));
  const { bad } = await verifyEntries(statement, makeLog(5, otherRun));
  expect(bad).toMatchObject({ first: 1, last: 1, problem: "wrong_run" });
  expect(bad?.message).toContain(otherRun);
});

test.each([
  ["no JSON", () => "{"],
  ["no object", () => "[]"],
  ["null", () => "null"],
  ["without bytes", () => '{"sequence":3}'],
  ["with a number that is text", (line: string) => line.replace('"sequence":3', '"sequence":"3"')],
  ["in base64 with a space", (line: string) => line.replace('"bytes":"', '"bytes":" ')],
  ["in base64 without its padding", (line: string) => line.replace(/=+"/, '"')],
])("a line that is %s is found at its place", async (_name, damage) => {
  // Picks a length that needs base64 padding.
  const log = makeLog(3).with(2, makeEntry(3, delta("x")));
  const padded = [..."xyz"].map((_, index) => log.with(2, makeEntry(3, delta("x".repeat(index + 1)))));
  const chosen = padded.find((each) => linesOf(each)[2]?.includes('="')) ?? expect.unreachable();
  const lines = linesOf(chosen);
  const { bad } = await verify(await stateLog(chosen), lines.with(2, damage(lines[2] ?? "")));
  expect(bad).toMatchObject({ first: 3, last: 3, problem: "not_a_log_line" });
});

test("a line with a wrong number is found, although its bytes are right", async () => {
  const log = makeLog(5);
  const lines = linesOf(log);
  const { bad } = await verify(
    await stateLog(log),
    lines.with(2, (lines[2] ?? "").replace('"sequence":3,', '"sequence":4,')),
  );
  expect(bad).toMatchObject({ first: 3, last: 3, problem: "changed", message: expect.stringContaining("entry 4") });
});

test("a decoded form that differs from its bytes is reported, and the log stays valid", async () => {
  const log = makeLog(5);
  const lines = linesOf(log);
  const lied = (lines[2] ?? "").replace('"content":"word 3"', '"content":"nothing"');
  expect(lied).not.toBe(lines[2]);
  expect(await verify(await stateLog(log), lines.with(2, lied))).toEqual({ bad: undefined, misquoted: [3] });
});

test("a statement with other counts than its log is refused", async () => {
  const log = makeLog(5);
  const statement = await stateLog(log);
  const counts = { "message.delta": 4, "run.completed": 1 };
  const other = readStatement(JSON.stringify({ ...statement, counts }));
  expect((await verifyEntries(other, log)).bad).toMatchObject({ problem: "counts_differ" });
});

test.each<[string, Partial<Statement>, ResultInit]>([
  ["says completed of a run that failed", {}, failed("runner.timeout")],
  ["says completed of a run that was cancelled", {}, failed("cancelled")],
  ["names another reason", { code: "length" }, completed("stop")],
  ["names no reason", { code: undefined }, completed("stop")],
  ["says cancelled of a run that failed", { status: "cancelled", code: "runner.timeout" }, failed("runner.timeout")],
  ["says how a run ended of which the log does not say it", {}, delta("and so on")],
])("a statement that %s is refused at the last entry", async (_name, claim, end) => {
  const log = makeLog(5).with(4, makeEntry(5, end));
  const statement = readStatement(JSON.stringify({ ...(await stateLog(log)), ...claim }));
  expect((await verifyEntries(statement, log)).bad).toMatchObject({ first: 5, last: 5, problem: "ends_otherwise" });
});

test.each<[Partial<Statement>, ResultInit]>([
  [{ status: "failed", code: "runner.timeout" }, failed("runner.timeout")],
  [{ status: "cancelled", code: "cancelled" }, failed("cancelled")],
  // A runner may report this code without a cancel request: its run failed.
  [{ status: "failed", code: "cancelled" }, failed("cancelled")],
  [{ code: undefined }, completed("")],
])("a statement of %j fits a run with that end", async (claim, end) => {
  const log = makeLog(5).with(4, makeEntry(5, end));
  const statement = readStatement(JSON.stringify({ ...(await stateLog(log)), ...claim }));
  expect((await verifyEntries(statement, log)).bad).toBeUndefined();
});

function failed(code: string): ResultInit {
  return { payload: { case: "runFailed", value: { code, error: "it did not work" } } };
}

function completed(finishReason: string): ResultInit {
  return { payload: { case: "runCompleted", value: { finishReason, turns: 1 } } };
}

test("in a log of 65,537 entries a bad entry is located between two marks", async () => {
  const log = makeLog(65_537);
  const statement = await stateLog(log);
  expect(statement).toMatchObject({ entries: 65_537, mark_interval: 2 });
  expect((await verifyEntries(statement, log)).bad).toBeUndefined();

  const change = (at: number): ChainEntry[] => log.with(at - 1, makeEntry(at, delta("other words")));
  for (const [at, first, last] of [
    [1, 1, 2],
    [40_001, 40_001, 40_002],
    [40_002, 40_001, 40_002],
    [65_536, 65_535, 65_536],
    [65_537, 65_537, 65_537],
  ] as const) {
    expect((await verifyEntries(statement, change(at))).bad).toMatchObject({ first, last, problem: "changed" });
  }
  const { bad: missing } = await verifyEntries(statement, log.toSpliced(999, 1));
  expect(missing).toMatchObject({ first: 999, last: 1_000, problem: "missing" });
  const { bad: cut } = await verifyEntries(statement, log.slice(0, 1_001));
  expect(cut).toMatchObject({ first: 1_001, last: 1_002, problem: "ends_too_early" });
}, 300_000);

test("another run's id in a statement makes every entry wrong", async () => {
  const statement = await stateLog(makeLog(3));
  const moved = readStatement(JSON.stringify({ ...statement, run_id: otherRun }));
  expect((await verifyEntries(moved, makeLog(3))).bad).toMatchObject({ first: 1, last: 1, problem: "wrong_run" });
  expect((await verifyEntries(moved, makeLog(3, otherRun))).bad).toMatchObject({
    first: 1,
    last: 1,
    problem: "changed",
  });
  expect(statement.run_id).toBe(runId);
});
