// The hash chain of a log: what its value depends on.

import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChainEntry, entriesPerBlock, LogChain, startOfChain } from "../../src/engine/hash-chain/chain.ts";
import { plainChainValue } from "./plain-chain.ts";

const runId = "019a0000-0000-7000-8000-000000000001";

/** Sizes around the limits of a length in one, two and three bytes, and of the bytes that a chain holds before it hashes. */
const sizes = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 2, arbitrary: fc.constantFrom(127, 128, 16_383, 16_384, 65_490, 65_499, 65_504, 65_531, 65_536, 200_000) },
);

const logs = fc.array(sizes, { maxLength: 200 }).map((lengths) => entriesOf(lengths));

function entriesOf(lengths: readonly number[]): ChainEntry[] {
  return lengths.map((length, index) => ({
    sequence: index + 1,
    bytes: Buffer.alloc(length, `${index + 1},`),
  }));
}

function chainOf(entries: readonly ChainEntry[]): LogChain {
  const chain = new LogChain(startOfChain(runId));
  chain.add(entries);
  return chain;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function plain(entries: readonly ChainEntry[]): string {
  return hex(
    plainChainValue(
      runId,
      entries.map(({ bytes }) => bytes),
    ),
  );
}

test("its value follows the definition, for every log", () => {
  fc.assert(fc.property(logs, (entries) => hex(chainOf(entries).value) === plain(entries)));
});

test.each([0, 1, 63, 64, 65, 127, 128, 129])("its value after %i entries follows the definition", (count) => {
  const entries = entriesOf(Array.from({ length: count }, (_, index) => index * 7));
  const chain = chainOf(entries);
  expect(hex(chain.value)).toBe(plain(entries));
  expect(chain.count).toBe(count);
  expect(chain.lastBlock.sequence).toBe(count - (count % entriesPerBlock));
});

test("its value does not depend on the batches of entries, nor on reads in between", () => {
  fc.assert(
    fc.property(logs, fc.array(fc.nat({ max: 90 })), (entries, batches) => {
      const chain = new LogChain(startOfChain(runId));
      let done = 0;
      for (const size of batches) {
        chain.add(entries.slice(done, done + size));
        done = Math.min(entries.length, done + size);
        expect(hex(chain.value)).toBe(plain(entries.slice(0, done)));
      }
      chain.add(entries.slice(done));
      expect(hex(chain.value)).toBe(plain(entries));
    }),
  );
});

test("a chain that continues from the last block has the same values", () => {
  fc.assert(
    fc.property(logs, fc.nat({ max: 200 }), (entries, at) => {
      const { lastBlock } = chainOf(entries.slice(0, at));
      const resumed = new LogChain(lastBlock);
      resumed.add(entries.slice(lastBlock.sequence));
      expect(hex(resumed.value)).toBe(plain(entries));
      expect(hex(resumed.lastBlock.head)).toBe(hex(chainOf(entries).lastBlock.head));
    }),
  );
});

test("a copy with more entries leaves the original unchanged", () => {
  fc.assert(
    fc.property(logs, fc.nat({ max: 200 }), (entries, at) => {
      const chain = chainOf(entries.slice(0, at));
      const first = chain.with(entries.slice(at));
      expect(hex(first.value)).toBe(plain(entries));
      expect(hex(chain.value)).toBe(plain(entries.slice(0, at)));
      chain.add(entries.slice(at));
      expect(hex(chain.value)).toBe(plain(entries));
      expect(hex(first.value)).toBe(plain(entries));
    }),
  );
});

describe("its value depends on", () => {
  const entries = entriesOf([3, 0, 5, 130, 2]);

  test("the run, whose id may be written in either case", () => {
    const other = new LogChain(startOfChain(runId.replace("1", "2")));
    other.add(entries);
    expect(hex(other.value)).not.toBe(plain(entries));
    expect(hex(startOfChain(runId.toUpperCase()).head)).toBe(hex(startOfChain(runId).head));
  });

  test("the borders between entries", () => {
    const joined = [Buffer.from("ab"), Buffer.from("c")];
    const split = [Buffer.from("a"), Buffer.from("bc")];
    const values = [joined, split].map((parts) =>
      hex(chainOf(parts.map((bytes, index) => ({ sequence: index + 1, bytes }))).value),
    );
    expect(values[0]).not.toBe(values[1]);
  });
});

test("an entry out of sequence is refused", () => {
  const entries = entriesOf([1, 1, 1]);
  expect(() => chainOf(entries.slice(1))).toThrow("entry 2 does not follow entry 0");
  const chain = chainOf(entries);
  expect(() => chain.add(entries.slice(2))).toThrow("entry 3 does not follow entry 3");
});

test("its memory is bounded, however large the entries are", () => {
  // Runs in a separate process, to measure memory alone: a hundred chains with 60 entries of 1 MB each.
  const program = `
    const { LogChain, startOfChain } = await import(${JSON.stringify(new URL("../../src/engine/hash-chain/chain.ts", import.meta.url).href)});
    const bytes = new Uint8Array(1_000_000);
    const entries = Array.from({ length: 60 }, (_, index) => ({ sequence: index + 1, bytes }));
    const before = process.memoryUsage().arrayBuffers;
    const chains = Array.from({ length: 100 }, () => new LogChain(startOfChain("run")));
    for (const chain of chains) {
      chain.add(entries);
    }
    console.log((process.memoryUsage().arrayBuffers - before) / chains.length);`;
  const held = Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(100_000);
});
