// Commands of readers, and of failures on the way to them: broken connections and lost notifications.

import { setImmediate as turnOfLoop } from "node:timers/promises";
import fc from "fast-check";
import { expect } from "vitest";
import { isOutage } from "../../src/platform/database/errors.ts";
import { until } from "../harness/wait.ts";
import { command, type LogCommand, pick } from "./log-command.ts";
import { type LogModel, type ModelReader, type ModelRun, readRows } from "./log-model.ts";
import type { LogWorld, Site } from "./log-world.ts";
import { PullReader } from "./pull-reader.ts";

const index = fc.nat({ max: 5 });

export const reading: readonly fc.Arbitrary<LogCommand>[] = [
  command(
    "open a reader",
    fc.record({ index, site: index, back: fc.integer({ min: -2, max: 6 }), isEager: fc.boolean() }),
    {
      isPossible: () => true,
      run: async (model, world, choice) => {
        const run = pick(model.runs, choice.index);
        const length = (await readRows(world, run.id)).length;
        const site = pick(world.sites, choice.site);
        const { isEager } = choice;
        model.readers.push({ run, site, isEager, reader: openAt(site, run, Math.max(0, length - choice.back)) });
      },
    },
  ),
  command("read some", index, {
    isPossible: (model) => model.readers.length > 0,
    run: async (model, world, choice) => await readSome(pick(model.readers, choice), world),
  }),
  // Repeated to make it more likely: waiting readers are the ones that need notifications.
  ...[1, 2, 3].map(() =>
    command("read all there is", fc.constant(0), {
      isPossible: (model) => model.readers.length > 0,
      run: async (model, world) => {
        for (const each of model.readers) {
          await readSome(each, world);
          each.reader.pull();
        }
      },
    }),
  ),
  command("close a reader", index, {
    isPossible: (model) => model.readers.length > 0,
    run: async (model, _, choice) => {
      const [left] = model.readers.splice(choice % model.readers.length, 1);
      await left?.reader.leave();
    },
  }),
  command(
    "cut an answer",
    fc.record({ index, words: fc.constantFrom("insert results under fence", "commit", "begin") }),
    {
      isPossible: () => true,
      run: async (_, world, choice) => pick(world.sites, choice.index).proxy.cutAnswerTo(choice.words),
    },
  ),
  command("break the wire", index, {
    isPossible: () => true,
    run: async (_, world, choice) => breakDown(pick(world.sites, choice)),
  }),
  ...[1, 2, 3].map(() =>
    command("mend the wires", fc.constant(0), {
      isPossible: () => true,
      run: async (model, world) => mendAll(model, world),
    }),
  ),
  command("lose the news from now on", fc.constant(0), {
    isPossible: () => true,
    run: async (_, { wakeup }) => {
      wakeup.losing = true;
    },
  }),
];

function breakDown(site: Site): void {
  site.isBroken = true;
  site.proxy.breakDown();
}

/** Reconnected followers know that they may have missed notifications. */
export function mendAll(model: LogModel, { sites, wakeup }: LogWorld): void {
  for (const site of sites.filter(({ isBroken }) => isBroken)) {
    site.isBroken = false;
    site.proxy.mend();
    // A fetch that was under way has failed; the next poll repeats it.
    for (const run of model.runs) {
      run.isUntold = true;
    }
  }
  wakeup.losing = false;
  wakeup.gap();
}

function openAt({ connections, broadcaster }: Site, { id }: ModelRun, after: number): PullReader {
  return new PullReader({ db: connections.db, broadcaster }, id, after);
}

/** Reads what lies after the reader's cursor, and expects it at once unless notifications are blocked. */
export async function readSome(each: ModelReader, world: LogWorld): Promise<void> {
  resume(each);
  const { reader, run } = each;
  const before = reader.got.length;
  const rows = await readRows(world, run.id);
  const isFlowing = !world.wakeup.losing && world.sites.every(({ isBroken }) => !isBroken);
  reader.pull();
  if (isFlowing && (rows.length > reader.cursor || run.isEnded) && !reader.isOver) {
    await waitFor(each, before, rows.length, world);
  } else {
    await turnOfLoop();
  }
  if (reader.error !== undefined && !isCut(each)) {
    expect(reader.error).toMatchObject({ reason: "OFFSET_BEYOND_END" });
    expect(run.isEnded && reader.after > rows.length).toBe(true);
  }
}

/** Returns false while more results may follow. */
export function hasReadAll(each: ModelReader): boolean {
  return each.reader.isOver && !isCut(each);
}

function isCut({ reader }: ModelReader): boolean {
  return reader.error !== undefined && isOutage(reader.error);
}

/** Opens the reader again at its cursor, as a client does after its stream broke. */
function resume(each: ModelReader): void {
  if (isCut(each)) {
    each.reader = openAt(each.site, each.run, each.reader.cursor);
  }
}

async function waitFor({ reader, run }: ModelReader, before: number, length: number, world: LogWorld): Promise<void> {
  const hasMoved = (): boolean => reader.isOver || reader.got.length > before;
  // A reader whose cursor is beyond the end learns of the end only by polling.
  const needsPoll = run.isUntold || reader.cursor >= length;
  await until(`reader of ${run.id} after ${reader.cursor} of ${length}`, () => {
    if (needsPoll) {
      world.clock.pass();
    }
    return hasMoved();
  });
}
