// How many bytes of a file are read for an outbox: the part that is shown, or only a sample of a text that does not fit.

import { open } from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Contents, fileBytesMax, readContents } from "../../../src/protocols/exchange/outbox/contents.ts";
import { Area } from "../../tools/area.ts";

const sampleBytes = 8_192;

let area: Area;
beforeEach(() => {
  area = new Area();
});
afterEach(() => {
  area[Symbol.dispose]();
});

/** The kind of the contents, and the number of bytes read. */
async function readCounted(content: string, bytesLeft: number): Promise<[kind: Contents["kind"], bytesRead: number]> {
  await using handle = await open(area.write("file", content));
  const read = vi.spyOn(handle, "read");
  const { kind } = await readContents(handle, bytesLeft, new AbortController().signal);
  const pieces = await Promise.all(read.mock.results.map(({ value }) => value));
  return [kind, pieces.reduce((sum, piece) => sum + (piece?.bytesRead ?? 0), 0)];
}

test.each([
  ["a text that is shown whole, all of it", "x".repeat(100_000), 100_000, ["text", 100_000]],
  ["a text that is cut, what is shown", "x".repeat(1_000_000), 1_000_000, ["text", fileBytesMax]],
  ["a text that has no room, a sample", "x".repeat(1_000_000), 200_000, ["left-out", sampleBytes]],
  ["a binary file, a sample", "\0".repeat(1_000_000), 1_000_000, ["binary", sampleBytes]],
])("of %s is read", async (_name, content, bytesLeft, expected) => {
  expect(await readCounted(content, bytesLeft)).toEqual(expected);
});
