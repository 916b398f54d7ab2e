// The statement of a receipt: its summary of a log, and which texts are invalid.

import { describe, expect, test } from "vitest";
import { LogChain, startOfChain } from "../../src/engine/hash-chain/chain.ts";
import { printStatement, readStatement } from "../../src/engine/receipts/statement.ts";
import { summarizeLog } from "../../src/engine/receipts/summarize.ts";
import { inPages, makeEntry, makeLog, runId, stateLog } from "./log.ts";
import { plainChainValue } from "./plain-chain.ts";

describe("a log's summary", () => {
  test.each([1, 63, 64, 65, 128])(
    "has the values after the first and the last of %i entries, and one mark after each",
    async (length) => {
      const log = makeLog(length);
      const values = log.map(({ sequence }) =>
        plainChainValue(
          runId,
          log.slice(0, sequence).map(({ bytes }) => bytes),
        ),
      );
      expect(await summarizeLog(runId, inPages(log, 10))).toMatchObject({
        entries: length,
        first_hash: values.at(0)?.toString("hex"),
        last_hash: values.at(-1)?.toString("hex"),
        mark_interval: 1,
        marks: Buffer.concat(values.map((value) => value.subarray(0, 8))).toString("base64"),
      });
    },
  );

  test("counts entries by type, even types of later versions", async () => {
    const unknown = { sequence: 4, bytes: Buffer.from([0xfa, 0x3f, 0x00]) };
    const log = [
      ...makeLog(4).slice(0, 3),
      unknown,
      makeEntry(5, { payload: { case: "runFailed", value: { code: "x" } } }),
    ];
    expect((await summarizeLog(runId, inPages(log)))?.counts).toEqual({
      "turn.started": 1,
      "message.delta": 2,
      unknown: 1,
      "run.failed": 1,
    });
  });

  test("does not depend on its pages", async () => {
    const log = makeLog(150);
    const one = await summarizeLog(runId, inPages(log, 150));
    expect(await summarizeLog(runId, inPages(log, 7))).toEqual(one);
  });

  test("is undefined for an empty log, and refused for a log with a gap", async () => {
    expect(await summarizeLog(runId, inPages([]))).toBeUndefined();
    await expect(summarizeLog(runId, inPages(makeLog(9).toSpliced(4, 1)))).rejects.toThrow(
      "entry 6 does not follow entry 4",
    );
  });

  test.each([
    [65_536, 1, 65_536],
    [65_537, 2, 32_769],
    [131_072, 2, 65_536],
    [131_073, 4, 32_769],
  ])("of %i entries has a mark every %i", async (length, interval, count) => {
    const bytes = new Uint8Array([0]);
    const log = Array.from({ length }, (_, index) => ({ sequence: index + 1, bytes }));
    const summary = (await summarizeLog(runId, inPages(log, 10_000))) ?? expect.unreachable();
    const marks = Buffer.from(summary.marks, "base64");
    expect(summary.mark_interval).toBe(interval);
    expect(marks.length).toBe(8 * count);
    // Checks some of the marks, and the last one.
    const chain = new LogChain(startOfChain(runId));
    chain.add(log.slice(0, 5 * interval));
    expect(marks.subarray(4 * 8, 5 * 8)).toEqual(Buffer.from(chain.value.subarray(0, 8)));
    chain.add(log.slice(5 * interval));
    expect(marks.subarray(-8)).toEqual(Buffer.from(chain.value.subarray(0, 8)));
  });
});

describe("a statement's text", () => {
  test("is the same for any order of its members, and can be read back", async () => {
    const statement = { ...(await stateLog(makeLog(20))), job_id: "j", region: "EU", job_spec_sha256: "0".repeat(64) };
    const text = printStatement(statement);
    const backwards = Object.fromEntries(Object.entries(statement).toReversed()) as typeof statement;
    const counts = Object.fromEntries(Object.entries(statement.counts).toReversed());
    expect(printStatement({ ...backwards, counts })).toBe(text);
    expect(readStatement(text)).toEqual(statement);
    expect(Object.keys(JSON.parse(text))).toEqual([
      ...["type", "iss", "run_id", "job_id", "region", "job_spec_sha256"],
      ...["entries", "first_hash", "last_hash", "counts", "status", "code"],
      ...["started_at", "ended_at", "issued_at", "mark_interval", "marks"],
    ]);
  });

  test("has no members for missing values", async () => {
    const { iss: _iss, code: _code, ...statement } = await stateLog(makeLog(2));
    const text = printStatement(statement);
    for (const name of ["iss", "code", "job_id", "region", "job_spec_sha256"]) {
      expect(text).not.toContain(`"${name}"`);
    }
    expect(printStatement(readStatement(text))).toBe(text);
  });

  test("may have unknown members", async () => {
    const statement = await stateLog(makeLog(2));
    expect(readStatement(JSON.stringify({ ...statement, later: true }))).toEqual(statement);
  });

  test.each([
    ["is not JSON", () => "{", "not JSON"],
    ["is a list", () => "[]", "not an object"],
    ["is of another type", change({ type: "runnel.receipt.v2" }), "not of type"],
    ["has no run", change({ run_id: undefined }), "run_id"],
    ["has a run in upper case", change({ run_id: runId.replace("a", "A") }), "run_id"],
    ["has an unknown status", change({ status: "running" }), "status"],
    ["has no entries", change({ entries: 0 }), "entries"],
    ["has entries that are text", change({ entries: "20" }), "entries"],
    ["has invalid counts", change({ counts: { "turn.started": -1 } }), "counts"],
    ["has a time without a zone", change({ ended_at: "2026-01-01T00:00:09" }), "ended_at"],
    ["has a hash of the wrong length", change({ last_hash: "00" }), "last_hash"],
    ["counts more than it has", change({ entries: 21 }), "contradicts itself"],
    ["has another first hash than its marks", change({ first_hash: "0".repeat(64) }), "contradicts itself"],
    ["has another last hash than its marks", change({ last_hash: "0".repeat(64) }), "contradicts itself"],
    ["has marks too few", change({ marks: "AAAAAAAAAAA=" }), "contradicts itself"],
    ["has marks too far apart", change({ mark_interval: 2 }), "contradicts itself"],
  ])("that %s is refused", async (_name, damage, message) => {
    const text = printStatement(await stateLog(makeLog(20)));
    expect(() => readStatement(damage(text))).toThrow(message);
  });
});

function change(members: Readonly<Record<string, unknown>>): (text: string) => string {
  return (text) => JSON.stringify({ ...JSON.parse(text), ...members });
}
