// Broadcaster and tail under every order that the scheduler can generate. Results are committed here and elsewhere, announced late,
// twice or never, fetched while they change, and purged. Readers open, leave and resume, with a sink or without. Each of them
// gets n+1 after n.

import { setImmediate as turnOfLoop } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { range, type SteppingReader } from "./stepping-reader.ts";
import { type Story, World } from "./told-world.ts";

/** Several times what the test takes on an idle machine. */
const busyMs = 180_000;

/** Mostly a few rows; now and then more than a buffer or a page holds. */
const rowsOfBatch = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(255, 257, 501) },
);

const story: fc.Arbitrary<Story> = fc.record({
  batches: fc.array(fc.record({ rows: rowsOfBatch, isOurs: fc.boolean() }), { minLength: 1, maxLength: 6 }),
  readers: fc.array(fc.record({ after: fc.nat({ max: 4 }), leaves: fc.boolean(), room: fc.nat({ max: 2 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  fetches: fc.nat({ max: 4 }),
  gaps: fc.nat({ max: 1 }),
  isPurged: fc.boolean(),
  isPurgeHeard: fc.boolean(),
});

/** Runs everything that a step has unblocked before the next step, so that only the scheduler decides the order. */
const scheduler = fc.scheduler({
  act: async (step) => {
    await step();
    await turnOfLoop();
  },
});

test("in every order of announcements each reader gets each entry once, in order, up to the end", {
  timeout: busyMs,
}, async () => {
  let takings = 0;
  await fc.assert(
    fc.asyncProperty(scheduler, story, async (s, told) => {
      const world = new World(s, told);
      await world.play();
      for (const reader of world.readers) {
        expectReaderToHold(reader, world);
      }
      expect(world.broadcaster.readerCount).toBe(0);
      takings += world.readers.reduce((sum, reader) => sum + reader.takings, 0);
    }),
    { numRuns: 2_000 },
  );
  // Which readers are in step when a batch is announced depends on chance.
  expect(takings).toBeGreaterThan(0);
});

function expectReaderToHold(reader: SteppingReader, world: World): void {
  const isBeyondEnd = reader.after > world.length && !reader.hasLeft;
  expect(reader.error).toEqual(isBeyondEnd ? expect.objectContaining({ reason: "OFFSET_BEYOND_END" }) : undefined);
  const sequences = reader.got.map((entry) => entry.sequence);
  expect(sequences).toEqual(range(reader.after + 1, reader.after + sequences.length));
  expect(reader.got.filter((entry) => !world.knows(entry))).toEqual([]);
  expect(reader.wrongs).toEqual([]);
  expect(reader.isAfterPurge && reader.got.some((entry) => !world.isPurged(entry))).toBe(false);
  if (!reader.hasLeft) {
    expect(reader.isOver).toBe(true);
    expect(reader.cursor).toBe(Math.max(world.length, reader.after));
  }
}
